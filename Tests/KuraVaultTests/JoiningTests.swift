// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// A new machine begins with what a store has of a vault, and a passcode or recovery key.
@Suite struct JoiningTests {
  /// A vault that is shared, and what the store has of it.
  private struct First {
    let file: TestVault
    let offer: JoinOffer
    let vault: VaultID
    let record: [UInt8]

    init(slots: Int = 0) throws {
      let file = try TestVault(creating: false)
      try file.createOfFirstFormat(wantsRecoveryKey: true)
      try file.takeOver()
      var vault = try file.unlock()
      for number in 0..<slots {
        try vault.addSlot(
          JoiningTests.slot("passcode number \(number)"), authorizedBy: file.key())
      }
      try vault.share(label: Array("desk".utf8))
      try vault.put("a", "1")
      vault.fold()
      try self.init(of: file)
    }

    /// As a vault that is shared is now.
    init(of file: TestVault) throws {
      self.file = file
      var vault = try file.unlock()
      self.vault = vault.id
      record = try #require(try vault.remoteMemory()?.record)
      let header = try #require(try vault.headerObject())
      offer = try JoinOffer(
        header, record: record, in: vault.keys.ring.ledger?.epoch ?? .zero, of: vault.id)
      vault.fold()
    }

    func joined(
      _ text: String = TestVault.passcode, _ credential: Credential = .passcode,
      to other: TestVault
    ) throws {
      let key = try offer.attempt(stateDirectory: other.stateDirectory).open(
        credential, secret: secret(text))
      try VaultDraft.join(
        offer, at: other.path, options: other.options, by: key, label: Array("laptop".utf8)
      ).commit()
    }
  }

  private static func slot(_ text: String) throws -> PreparedSlot {
    try PreparedSlot.passcode(secret(text), kdf: TestVault.kdf, allowsWeak: true)
  }

  private func machine() throws -> TestVault {
    let file = try TestVault(creating: false)
    file.machine = Array("another machine, of this test".utf8) + [0, 0, 0]
    return file
  }

  private func key(_ first: First) -> String {
    String(decoding: first.file.recoveryKey, as: UTF8.self)
  }

  @Test(arguments: [Credential.passcode, .recoveryKey])
  func `a machine joins with what opens a slot`(_ credential: Credential) throws {
    let first = try First()
    let other = try machine()
    let text = credential == .passcode ? TestVault.passcode : key(first)
    try first.joined(text, credential, to: other)
    #expect(other.files == ["test.kura"])
    var vault = try other.unlock()
    #expect(vault.id == first.vault && vault.format == .second)
    #expect(try vault.names() == [])
    #expect(vault.slots.map(\.kind).count == 2)
    let memory = try #require(try vault.remoteMemory())
    #expect(memory.record == first.record && memory.mustWalk && memory.awaitsSlots)
    #expect(try memory.device == vault.ownDevice())
    let note = try #require(try vault.deviceTable()?[memory.device])
    #expect(note.label == Array("laptop".utf8))
    let seed = try vault.seed(of: memory.device)
    switch seed {
    case .some(let seed): #expect(try seed.pair().publicHalf == note.key)
    case .none: Issue.record("no seed")
    }
    #expect(try vault.headerObject() == nil)
    #expect(try vault.findings() == [])
    // It is a vault like any.
    try vault.put("b", "1")
    _ = try vault.protect(Array("b".utf8).span)
    #expect(try vault.openedText("b") == "1")
    #expect(try vault.journal().map(\.counter) == [1, 2] && vault.findings() == [])
    vault.fold()
    #expect(other.refusal(key(first), .recoveryKey) == nil)
    #expect(other.refusal("wrong") == .wrongPasscode)
  }

  @Test func `a passcode that is cheap as it was meant stays so, also where another one joined`()
    throws
  {
    let (first, other) = (try First(slots: 1), try machine())
    try first.joined(to: other)
    let vault = try other.unlock("passcode number 0")
    let isDearer = vault.mayBeStrengthened
    vault.fold()
    #expect(!isDearer)
  }

  @Test func `what opens no slot joins nothing`() throws {
    let first = try First()
    let other = try machine()
    #expect(throws: VaultError.wrongPasscode) { try first.joined("wrong", to: other) }
    #expect(throws: VaultError.noSuchSlot(.keyFile)) {
      try first.joined(String(repeating: "k", count: 32), .keyFile, to: other)
    }
    #expect(other.files == [])
  }

  @Test func `what stands there stays`() throws {
    let first = try First()
    let other = try TestVault()
    let before = try other.content()
    #expect(throws: VaultError.pathTaken) { try first.joined(to: other) }
    #expect(try other.content() == before && other.files == ["test.kura"])
    #expect(!seeds(other).contains { $0.hasSuffix(".new") })
    // A draft that is dropped leaves nothing.
    let third = try machine()
    let key = try first.offer.attempt(stateDirectory: third.stateDirectory).open(
      .passcode, secret: secret(TestVault.passcode))
    _ = try VaultDraft.join(first.offer, at: third.path, options: third.options, by: key)
    #expect(third.files == [] && seeds(third) == ["CACHEDIR.TAG"])
  }

  private func seeds(_ file: TestVault) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: file.stateDirectory + "/device")) ?? []
  }

  @Test func `what is another vault's is refused`() throws {
    let (first, second) = (try First(), try First())
    let epoch = first.offer.epoch
    #expect(throws: VaultError.copyRefused(.otherVault)) {
      _ = try JoinOffer(second.offer.header, record: first.record, in: epoch, of: first.vault)
    }
    #expect(throws: VaultError.copyRefused(.otherVault)) {
      _ = try JoinOffer(
        first.offer.header, record: second.record, in: second.offer.epoch, of: first.vault)
    }
    #expect(throws: VaultError.copyDamaged) {
      _ = try JoinOffer(first.offer.header, record: first.record, in: .zero, of: first.vault)
    }
  }

  /// What a machine left in a store.
  private func parts(_ first: First) throws -> (head: [UInt8], header: [UInt8], record: [UInt8]) {
    let store = TestStore()
    try first.file.meet(store)
    let device = try first.file.settledDevice()
    let head = try #require(store.files[.head(device)])
    let front = try SyncFront(kept: head)
    return (
      head, try #require(store.files[.object(device, hash: front.head.header)]),
      try #require(store.files[.object(device, hash: front.head.record)])
    )
  }

  @Test func `what stands in a store is taken as it stands there, and unlocks the vault`() throws {
    let first = try First()
    let (head, header, record) = try parts(first)
    let offer = try JoinOffer(head: head.span, header: header.span, record: record.span)
    #expect(offer == first.offer)
    let other = try machine()
    try VaultDraft.checkPlace(other.path)
    let key = try offer.attempt(stateDirectory: other.stateDirectory).open(
      .recoveryKey, secret: secret(self.key(first)))
    try VaultDraft.join(offer, at: other.path, options: other.options, by: key).commit()
    #expect(throws: VaultError.pathTaken) { try VaultDraft.checkPlace(other.path) }
    var vault = try LockedVault(at: other.path, options: other.options).unlock(
      with: key.ofJoined())
    #expect(vault.id == first.vault)
    #expect(try vault.names() == [])
    vault.fold()
  }

  @Test func `what is not what the head names joins nothing`() throws {
    let (first, second) = (try First(), try First())
    let (one, two) = (try parts(first), try parts(second))
    func refusal(_ head: [UInt8], _ header: [UInt8], _ record: [UInt8]) -> VaultError? {
      do throws(VaultError) {
        _ = try JoinOffer(head: head.span, header: header.span, record: record.span)
        return nil
      } catch { return error }
    }
    func bent(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      bytes[bytes.count / 2] ^= 1
      return bytes
    }
    #expect(refusal(one.head, one.header, one.record) == nil)
    #expect(refusal(bent(one.head), one.header, one.record) == .copyDamaged)
    #expect(refusal(one.head, bent(one.header), one.record) == .copyDamaged)
    #expect(refusal(one.head, one.header, bent(one.record)) == .copyDamaged)
    #expect(refusal(one.head, two.header, one.record) == .copyDamaged)
    #expect(refusal(one.head, one.header, two.record) == .copyDamaged)
    #expect(refusal([], [], []) == .copyDamaged)
  }

  @Test func `a record that the key does not open is nobody's`() throws {
    let first = try First()
    // The same vault in another life: the same id, and another key.
    let copy = try machine()
    try Copies.copy(first.file, to: copy)
    let key = try copy.key()
    try copy.fill { vault throws in _ = try vault.rekey(copy.key()) }
    var vault = try copy.unlock()
    let header = try #require(try vault.headerObject())
    vault.fold()
    let offer = try JoinOffer(header, record: first.record, in: first.offer.epoch, of: first.vault)
    let other = try machine()
    let opened = try offer.attempt(stateDirectory: other.stateDirectory).open(
      .passcode, secret: secret(TestVault.passcode))
    #expect(throws: VaultError.copyDamaged) {
      _ = try VaultDraft.join(offer, at: other.path, options: other.options, by: opened)
    }
    _ = consume key
    #expect(other.files == [])
  }

  @Test func `more slots than a vault has wait, and the one that opened does not`() throws {
    let first = try First(slots: 3)
    var slots = first.offer.header.slots
    let more = try First(slots: 3)
    slots += more.offer.header.slots.filter { !slots.contains($0) }
    let header = try HeaderObject(first.offer.header.header, slots: slots)
    let offer = try JoinOffer(
      header, record: first.record, in: first.offer.epoch, of: first.vault)
    let other = try machine()
    let key = try offer.attempt(stateDirectory: other.stateDirectory).open(
      .passcode, secret: secret("passcode number 2"))
    try VaultDraft.join(offer, at: other.path, options: other.options, by: key).commit()
    var vault = try other.unlock("passcode number 2")
    #expect(vault.slots.count { $0.kind == .passcode } == 4)
    #expect(vault.keys.ring.ledger?.waiting.count == 4)
    #expect(try vault.findings() == [])
    vault.fold()
  }

  @Test func `a machine that had the vault before goes on from what it saw`() throws {
    let first = try First()
    let other = try machine()
    try first.joined(to: other)
    try other.fill { vault throws in for _ in 0..<5 { try vault.put("a", "2") } }
    let before = try other.content()
    try FileManager.default.removeItem(atPath: other.path)
    try first.joined(to: other)
    var vault = try other.unlock()
    #expect(vault.notices.isDisjoint(with: [.firstSeen, .seenDamaged]))
    let device = try #require(try vault.remoteMemory()?.device)
    #expect(try vault.ownDevice() == device && vault.findings() == [])
    vault.fold()
    // What it was before is older than that.
    try other.restore(before)
    guard case .rolledBack = other.refusal() else {
      Issue.record("an older copy is taken")
      return
    }
  }

  @Test func `a machine begins above all that it remembers, also under another key`() throws {
    let first = try First()
    let other = try machine()
    other.memory = VaultMemory()
    try first.joined(to: other)
    try other.fill { vault throws in for _ in 0..<5 { try vault.put("a", "2") } }
    try FileManager.default.removeItem(atPath: other.path)
    try first.file.fill { vault throws in
      let slots = try RekeySlots.cheap()
      try vault.complete(try vault.beginRekey(authorizedBy: first.file.key(), slots))
    }
    try First(of: first.file).joined(to: other)
    #expect(other.refusal() == nil)
    // And by what another engine reads on the disk.
    other.memory = nil
    #expect(other.refusal() == nil)
  }

  @Test func `a vault that stands on the machine already is found`() throws {
    let first = try First()
    let other = try machine()
    let path = other.directory + "/vault/second.kura"
    func place(_ path: String) throws -> String? {
      try VaultDraft.otherPlace(of: first.offer, than: path, options: other.options).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    #expect(try place(path) == nil)
    try first.joined(to: other)
    #expect(try place(path) == other.path)
    #expect(try place(other.path) == nil)
    try FileManager.default.removeItem(atPath: other.path)
    #expect(try place(path) == nil)
  }

  @Test func `another label reaches the others by itself`() throws {
    let first = try First()
    let store = TestStore()
    let other = try machine()
    try first.joined(to: other)
    for file in [first.file, other, first.file, other, first.file] { try file.meet(store) }
    store.forgetWrites()
    try other.meet(store)
    #expect(store.written == [])
    try other.fill { try $0.relabel(Array("phone".utf8)) }
    for file in [other, first.file] { try file.meet(store) }
    let labels = try state(first.file).devices.map { String(decoding: $0.label, as: UTF8.self) }
    #expect(labels.sorted() == ["desk", "phone"])
  }

  private func state(_ file: TestVault) throws -> SharingState {
    var vault = try file.unlock()
    let state = try vault.sharingState()
    vault.fold()
    return try #require(state)
  }

  @Test func `a machine that joined gets all that there is at the store`() throws {
    let first = try First()
    let store = TestStore()
    try first.file.meet(store)
    let other = try machine()
    try first.joined(to: other)
    try other.meet(store)
    // The words of a machine that has not heard of the new one.
    #expect(try state(first.file).heads == state(other).otherHeads)
    #expect(try state(first.file).heads != state(other).heads)
    for file in [first.file, other] { try file.meet(store) }
    #expect(try state(first.file).heads == state(other).heads)
    try first.file.fill { try $0.put("b", "2") }
    try first.file.meet(store)
    #expect(try state(first.file).heads != state(other).heads)
    try other.meet(store)
    var vault = try other.unlock()
    #expect(try vault.names() == ["a", "b"] && vault.findings() == [])
    // Though nobody has changed a slot yet.
    #expect(try vault.remoteMemory()?.awaitsSlots == false)
    let header = try vault.headerObject()
    vault.fold()
    vault = try first.file.unlock()
    #expect(try vault.headerObject()?.ids == header?.ids)
    // The one that changed none has the change that says which there are.
    let (device, records) = (try vault.ownDevice(), try vault.journal())
    #expect(records.contains { $0.item == .zero })
    #expect(vault.keys.ring.ledger?.slots.map(\.lineage.stamp.entry.device) == [device])
    vault.fold()
  }

  @Test func `the first slot table that comes is taken as it is`() throws {
    let first = try First(slots: 1)
    let other = try machine()
    try first.joined(to: other)
    // One goes there, and one comes.
    try first.file.fill { vault throws in
      let slot = try #require(vault.slots.last { $0.kind == .passcode }?.number)
      try vault.removeSlot(slot, authorizedBy: first.file.key())
      try vault.addSlot(Self.slot("brought later"), authorizedBy: first.file.key())
    }
    let cargo = try Cargo(of: first.file)
    var vault = try first.file.unlock()
    let header = try vault.headerObject()
    vault.fold()
    try other.fill { vault throws in
      for pack in cargo.packs {
        _ = try vault.merge(Cargo.opened(pack, by: vault, beside: header))
      }
      #expect(try vault.remoteMemory()?.awaitsSlots == false)
      #expect(try vault.headerObject()?.ids == header?.ids)
      #expect(try vault.findings() == [])
    }
    #expect(other.refusal("passcode number 0") == .wrongPasscode)
    #expect(other.refusal("brought later") == nil)
    // From then on it is one table.
    try first.file.fill { vault throws in
      let slot = try #require(vault.slots.last { $0.kind == .passcode }?.number)
      try vault.removeSlot(slot, authorizedBy: first.file.key())
    }
    let next = try Cargo(of: first.file)
    try other.fill { vault throws in
      for pack in next.packs { _ = try vault.merge(Cargo.opened(pack, by: vault)) }
      #expect(try vault.findings() == [])
    }
    #expect(other.refusal("brought later") == .wrongPasscode)
  }
}
