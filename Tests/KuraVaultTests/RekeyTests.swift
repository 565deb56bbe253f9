// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

@Suite struct RekeyTests {
  @Test func `a rekey keeps everything, and only the slots that were shown`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    try file.fill { vault in try vault.fill() }
    var vault = try file.unlock()
    let before = try vault.everything(file.protectedKey())
    let (epoch, half) = (vault.summary.epoch, vault.keys.ring.protectedHalf)
    let recovery = try vault.rekey(file.key(), wantsRecoveryKey: true)
    #expect(vault.summary.epoch == epoch + 1)
    #expect(vault.keys.ring.protectedHalf != half)
    #expect(vault.slots.map(\.kind) == [.passcode, .recoveryKey])
    #expect(try vault.everything(file.protectedKey()) == before)
    #expect(try vault.findings() == [])
    try vault.put("after", "value")
    try vault.flushSeen()
    vault.lock().close()
    #expect(file.files == ["test.kura"])
    vault = try file.unlock()
    #expect(vault.notices == [.weakSlot])
    #expect(try vault.getText("after") == "value")
    vault.lock().close()
    let ended = String(decoding: file.recoveryKey, as: UTF8.self)
    #expect(file.refusal(ended, .recoveryKey) == .wrongPasscode)
    #expect(file.refusal(recovery, .recoveryKey) == nil)
  }

  @Test func `nothing that the old keys sealed is left in the file`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    try file.fill { vault in try vault.fill() }
    let fronts = file.attack(
      "SELECT hex(data) FROM part WHERE id = 1", "SELECT hex(key) FROM slot",
      "SELECT hex(protected) FROM slot"
    ).map { Scan.bytes(hex: $0).filled }
    let rows = file.attack(
      "SELECT hex(meta) FROM item", "SELECT hex(body) FROM item",
      "SELECT hex(meta) FROM history", "SELECT hex(body) FROM history",
      "SELECT hex(digests) FROM node", "SELECT hex(tag) FROM item"
    ).map { Scan.bytes(hex: $0).filled }
    let before = Scan(try file.content())
    #expect(before.finds(fronts) == fronts.count)
    #expect(before.finds(rows) == rows.count)
    var vault = try file.unlock()
    _ = try vault.rekey(file.key())
    vault.lock().close()
    let after = Scan(try file.content())
    #expect(after.finds(fronts) == 0)
    #expect(after.finds(rows) == 0)
  }

  @Test func `until it is committed, and when it is dropped, the vault is as it was`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.fill() }
    let content = try file.content()
    var vault = try file.unlock()
    var other = try file.unlock()
    do {
      var rekey = try vault.beginRekey(authorizedBy: file.key(), try .cheap())
      while try rekey.step() {}
      #expect(try other.getText("item/3") == "3")
      #expect(throws: VaultError.busy) { try other.put("late", "value") }
    }
    other.lock().close()
    vault.lock().close()
    #expect(try file.content() == content)
    try file.fill { vault in try vault.put("late", "value") }
    #expect(try file.content() != content)
    #expect(file.refusal() == nil)
  }

  @Test func `another engine finds the vault replaced, and unlocks it again`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.fill() }
    var vault = try file.unlock()
    var other = try file.unlock()
    _ = try other.rekey(file.key())
    #expect(throws: VaultError.replaced) { try vault.getText("item/3") }
    #expect(throws: VaultError.replaced) { try vault.put("item/3", "x") }
    vault.lock().close()
    #expect(try other.getText("item/3") == "3")
    var again = try file.unlock()
    #expect(try again.getText("item/3") == "3")
  }

  @Test func `a batch that begins anew after a rekey is stored under the new key`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("item/299", "old")
    var batch = try vault.beginBatch(replacing: false)
    for number in 0..<300 {
      let (name, value) = (Array("item/\(number)".utf8), Array("\(number)".utf8))
      let attributes: [UInt8] = [0, 0]
      let isTaken = try vault.add(
        name.span, value: value.span, attributes: attributes.span, as: BatchManner(), to: &batch)
      #expect(isTaken)
    }
    // The last one is there already, so that all before it is undone.
    repeat { _ = try vault.advance(batch: &batch) } while batch.draft != nil
    _ = try vault.rekey(file.key())
    while try vault.advance(batch: &batch) {}
    #expect(batch.storedCount == 299)
    #expect(try vault.getText("item/298") == "298")
    #expect(try vault.findings() == [])
  }

  @Test func `a passcode that was opened before a rekey unlocks nothing after it`() throws {
    let file = try TestVault()
    let stale = try file.key()
    try file.fill { vault in _ = try vault.rekey(file.key()) }
    let locked = try file.open()
    var refusal: VaultError?
    do throws(VaultError) { _ = try locked.unlock(with: stale) } catch { refusal = error }
    #expect(refusal == .credentialStale)
  }

  @Test func `freshness holds on both sides of the commit`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.fill() }
    let old = try file.content()
    var vault = try file.unlock()
    // Killed between the note and the commit: the record of the old key still counts.
    do {
      var rekey = try vault.beginRekey(authorizedBy: file.key(), try .cheap())
      while try rekey.step() {}
      let trust = Trust(
        root: vault.trust.root, sealedRoot: [], fingerprint: .zero, header: [], sealedRing: [],
        slots: [])
      _ = try vault.noteAhead(trust, rekey.keys.next, logHead: .zero)
    }
    vault.lock().close()
    try file.fill { vault in #expect(vault.notices == [.weakSlot]) }
    try file.fill { vault in try vault.put("more", "value") }
    let current = try file.content()
    try file.restore(old)
    #expect(file.refusal().map { if case .rolledBack = $0 { true } else { false } } == true)
    try file.restore(current)
    // After the commit: what was there before is told from it.
    try file.fill { vault in _ = try vault.rekey(file.key()) }
    try file.fill { vault in #expect(vault.notices == [.weakSlot]) }
    let new = try file.content()
    try file.restore(current)
    #expect(file.refusal().map { if case .rolledBack = $0 { true } else { false } } == true)
    var accepted = try file.unlock(accepting: true)
    #expect(accepted.notices.contains(.rollbackAccepted))
    #expect(try accepted.getText("more") == "value")
    _ = consume accepted
    try file.restore(new)
  }

  @Test func `one that was killed before its second note is made good by the next unlock`() throws {
    let file = try TestVault()
    try file.fill { vault in try vault.fill() }
    let old = try file.content()
    let vault = try file.unlock()
    let seen = URL(
      filePath: file.stateDirectory + "/" + vault.id.hexadecimal + ".seen")
    vault.lock().close()
    let before = try [UInt8](Data(contentsOf: seen))
    try file.fill { vault in _ = try vault.rekey(file.key()) }
    let new = try file.content()
    // The newest record of the old key, and beside it the one that was written ahead.
    func counter(_ bytes: [UInt8], _ half: Int) -> UInt8 { bytes[half * 512 + 8] }
    let kept = counter(before, 0) > counter(before, 1) ? 0 : 1
    var killed = try [UInt8](Data(contentsOf: seen))
    let range = kept * 512..<(kept + 1) * 512
    killed.replaceSubrange(range, with: before[range])
    try Data(killed).write(to: seen)
    try file.fill { vault in #expect(vault.notices == [.weakSlot]) }
    try file.restore(old)
    #expect(file.refusal().map { if case .rolledBack = $0 { true } else { false } } == true)
    try file.restore(new)
    try file.fill { vault in #expect(vault.notices == [.weakSlot]) }
  }

  @Test func `a key file that was shown goes over, and so does a rotation under way`() throws {
    let file = try TestVault()
    let bytes = pattern(64)
    try file.fill { vault in
      try vault.fill()
      let slot = try PreparedSlot.keyFile(secret(bytes))
      try vault.addSlot(slot, authorizedBy: file.key())
      try vault.beginRotation()
      _ = try vault.rotate()
    }
    var vault = try file.unlock()
    let slots = RekeySlots(
      passcode: try .cheap(), keyFile: try PreparedSlot.keyFile(secret(bytes)), keyFileNumber: 1,
      recovery: nil)
    try vault.complete(try vault.beginRekey(authorizedBy: file.key(), slots))
    #expect(vault.rotation == nil)
    #expect(vault.keys.ring.generations.map(\.number) == [3])
    #expect(try vault.findings() == [])
    vault.lock().close()
    var locked = try file.open()
    let key = try locked.attempt().open(.keyFile, secret: secret(bytes))
    #expect(key.slot == 1)
    vault = try locked.unlock(with: key)
    #expect(try vault.getText("item/3") == "3")
  }

  @Test func `what goes on over several calls survives it, or says that it was in the way`() throws
  {
    let file = try TestVault()
    try file.fill { vault in try vault.fill() }
    var vault = try file.unlock()
    try vault.sweepAll()
    for number in 0..<80 { try vault.put("more/\(number)", "value") }
    let name = Array("large/new".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .create)
    let value = pattern(1_500_000)
    try vault.append(value.span.extracting(0..<1_000_000), to: &upload)
    try vault.append(value.span.extracting(1_000_000..<1_400_000), to: &upload)
    let large = Array("large".utf8)
    var reading = try vault.value(large.span)
    var whole: [UInt8] = []
    if let piece = try reading.next(in: &vault) { whole = bytes(of: piece.bytes) }
    var listing = vault.listing()
    _ = try listing.next(in: &vault)
    _ = try vault.rekey(file.key())
    while let piece = try reading.next(in: &vault) { whole += bytes(of: piece.bytes) }
    #expect(whole == pattern(200_000))
    var refusal: VaultError?
    do throws(VaultError) {
      while case .some = try listing.next(in: &vault) {}
    } catch { refusal = error }
    #expect(refusal == .busy)
    try vault.append(value.span.extracting(1_400_000..<1_500_000), to: &upload)
    _ = try vault.commit(&upload)
    try vault.sweepAll()
    #expect(try vault.get("large/new") == value)
    #expect(try vault.findings() == [])
  }

  @Test func `a tree of two levels is written anew`() throws {
    let file = try TestVault()
    try file.fill { vault in
      for number in 0..<4_200 { try vault.put("item/\(number)", "\(number)") }
    }
    var vault = try file.unlock()
    _ = try vault.rekey(file.key())
    #expect(try vault.findings() == [])
    for number in stride(from: 0, to: 4_200, by: 97) {
      #expect(try vault.getText("item/\(number)") == "\(number)")
    }
  }

  @Test func `is known to this machine as soon as it is there`()
    throws
  {
    let file = try TestVault()
    try file.fill { vault in try vault.put("a", "1") }
    var vault = try file.unlock()
    _ = try vault.rekey(file.key())
    // Nothing was noted since, as after a kill.
    let other = try file.unlock()
    #expect(!other.notices.contains(.seenDamaged) && !other.notices.contains(.firstSeen))
  }

  @Test func `a damaged item stops it, and nothing is changed`() throws {
    let file = try TestVault()
    // A long value's pieces would be findings of their own.
    try file.fill { vault in try vault.put("short", "value") }
    let tag = try #require(file.attack("SELECT hex(tag) FROM item").first)
    try file.fill { vault in try vault.fill() }
    file.attack("UPDATE item SET meta = zeroblob(328) WHERE hex(tag) = '\(tag)'")
    var vault = try file.unlock()
    #expect(throws: VaultError.damaged(.item)) { _ = try vault.rekey(file.key()) }
    #expect(try vault.findings().count == 1)
    try vault.put("another", "value")
  }
}

extension [UInt8] {
  /// The same, with room for a window.
  fileprivate var filled: [UInt8] { self + [UInt8](repeating: 0, count: Swift.max(0, 16 - count)) }
}

extension TestVault {
  fileprivate func protectedKey() throws(VaultError) -> ProtectedKey {
    var vault = try unlock()
    return try vault.protectedKey(from: key())
  }
}

extension PreparedSlot {
  fileprivate static func cheap() throws(VaultError) -> PreparedSlot {
    try passcode(KuraVaultTests.secret(TestVault.passcode), kdf: TestVault.kdf, allowsWeak: true)
  }
}

extension RekeySlots {
  static func cheap() throws(VaultError) -> RekeySlots {
    RekeySlots(passcode: try .cheap(), keyFile: nil, keyFileNumber: 0, recovery: nil)
  }
}

extension UnlockedVault {
  mutating func complete(_ begun: consuming Rekey) throws(VaultError) {
    var rekey = begun
    while try rekey.step() {}
    try finish(rekey)
  }

  /// The new recovery key.
  mutating func rekey(
    _ fresh: borrowing VaultKey, wantsRecoveryKey: Bool = false
  ) throws(VaultError) -> String {
    let slots = RekeySlots(
      passcode: try .cheap(), keyFile: nil, keyFileNumber: 0,
      recovery: wantsRecoveryKey ? try PreparedSlot.recoveryKey() : nil)
    try complete(try beginRekey(authorizedBy: fresh, slots))
    return text(of: slots.recoveryKeyText)
  }

  fileprivate mutating func fill() throws(VaultError) {
    for number in 0..<60 { try put("item/\(number)", "\(number)") }
    for number in 0..<3 { try put("often", "\(number)") }
    try put("gone", "value")
    try remove("gone")
    try upload("large", pattern(200_000))
    try put("secret", "first")
    try put("secret", "second")
    let name = Array("secret".utf8)
    try protect(name.span)
  }

  fileprivate mutating func everything(
    _ key: consuming ProtectedKey
  ) throws(VaultError) -> [String: [UInt8]] {
    let key: ProtectedKey? = key
    var all: [String: [UInt8]] = [:]
    for name in try names() {
      let bytes = Array(name.utf8)
      for revision in try revisions(name) + [nil] {
        var value = try value(bytes.span, revision: revision, with: key)
        var whole = value.isStream ? [] : KuraVaultTests.bytes(of: value.bytes)
        while let piece = try value.next(in: &self) {
          whole += KuraVaultTests.bytes(of: piece.bytes)
        }
        all["\(name) \(revision ?? 0)"] = whole
      }
    }
    return all
  }
}
