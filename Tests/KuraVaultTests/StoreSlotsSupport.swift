// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// Collects which kinds of slots a store got to see.
final class SeenSlots {
  var kinds: Set<SlotKind> = []
  var objects: [[UInt8]] = []

  func note(_ bytes: [UInt8]) {
    objects.append(bytes)
    // The frame of an object, and the kind that is a header.
    guard bytes.starts(with: "KURAOBJ1".utf8), bytes[8] == 4 else { return }
    guard let header = try? HeaderObject(decoding: Array(bytes.dropFirst(32)).span) else {
      Issue.record("a header that cannot be read")
      return
    }
    for slot in header.slots {
      if let known = try? SlotHeader(decoding: slot.header.span) { kinds.insert(known.kind) }
    }
  }
}

/// Shares a vault by its recovery key alone, and looks at all that its store gets.
protocol SparingSuite {
  var store: TestStore { get }
  var desk: TestVault { get }
  var seen: SeenSlots { get }
}

extension SparingSuite {
  /// A store, a machine that has a vault with a recovery key, and who looks on.
  static func begun() throws -> (TestStore, TestVault, SeenSlots) {
    let (store, desk, seen) = (TestStore(), try TestVault.machine(0), SeenSlots())
    try desk.createOfFirstFormat(wantsRecoveryKey: true)
    try desk.takeOver()
    store.spy = seen.note
    return (store, desk, seen)
  }

  func share() throws {
    try desk.fill { vault throws in
      try vault.share(label: Array("desk".utf8), sparing: true)
      try vault.put("a", "1")
    }
    try desk.meet(store)
  }

  func text(_ file: TestVault) -> String {
    String(decoding: file.recoveryKey, as: UTF8.self)
  }

  /// What the store has for who begins there.
  func offer(of file: TestVault) throws -> JoinOffer {
    let device = try file.settledDevice()
    let head = try #require(store.files[.head(device)])
    let front = try SyncFront(kept: head)
    let header = try #require(store.files[.object(device, hash: front.head.header)])
    let record = try #require(store.files[.object(device, hash: front.head.record)])
    return try JoinOffer(head: head.span, header: header.span, record: record.span)
  }

  /// A machine that begins by the recovery key.
  func joined(_ number: Int = 1, by credential: Credential = .recoveryKey) throws
    -> TestVault
  {
    let file = try TestVault.machine(number)
    file.recoveryKey = desk.recoveryKey
    let text = credential == .passcode ? TestVault.passcode : text(desk)
    file.opener = (text, credential)
    let offer = try offer(of: desk)
    let key = try offer.attempt(stateDirectory: file.stateDirectory).open(
      credential, secret: secret(file.opener.text))
    try VaultDraft.join(
      offer, at: file.path, options: file.options, by: key, label: Array("phone".utf8)
    ).commit()
    return file
  }

  /// Sets a passcode on a machine that has none, or another one.
  func setPasscode(_ passcode: String, _ file: TestVault) throws {
    var vault = try file.unlock()
    try vault.changeSlots(
      authorizedBy: try file.key(), passcode: try passcodeSlot(passcode), recovery: nil)
    vault.fold()
    file.opener = (passcode, .passcode)
  }

  func meetAll(_ files: TestVault...) throws -> [SyncReport] {
    var told: [SyncReport] = []
    for _ in 0..<4 { for file in files { told.append(try file.meet(store)) } }
    store.forgetWrites()
    for file in files { told.append(try file.meet(store)) }
    #expect(store.written.isEmpty)
    return told
  }

  func kinds(_ file: TestVault) throws -> [SlotKind] {
    var vault = try file.unlock()
    let kinds = try vault.slotReports().map(\.kind)
    vault.fold()
    return kinds
  }

  func isSparing(_ file: TestVault) throws -> Bool {
    var vault = try file.unlock()
    let isSparing = try vault.sparesStore()
    vault.fold()
    return isSparing
  }

  func kinds(ofFindings report: SyncReport) -> [SyncNotice] { report.findings.map(\.kind) }

  /// No slot of a machine but its recovery key's is anywhere in what the store ever got.
  func expectNothing(of files: TestVault...) throws {
    #expect(seen.kinds == [.recoveryKey])
    for file in files {
      let vault = try file.unlock()
      for row in vault.trust.slots where row.kind != .recoveryKey {
        let mark = Data(row.header)
        #expect(!seen.objects.contains { Data($0).range(of: mark) != nil })
      }
      vault.fold()
    }
  }

  func rekey(_ file: TestVault) throws {
    var vault = try file.unlock()
    let slots = RekeySlots(
      passcode: try passcodeSlot(file.opener.text), keyFile: nil, keyFileNumber: 0,
      recovery: try PreparedSlot.recoveryKey())
    file.recoveryKey = bytes(of: slots.recoveryKeyText)
    try vault.complete(try vault.beginRekey(authorizedBy: try file.key(), slots))
    vault.fold()
  }

  /// Enters the key of another machine by its recovery key.
  func enter(_ file: TestVault, _ recoveryKey: [UInt8]) throws {
    var vault = try file.unlock()
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = store.answer(wish) }
    let found = run.entrance
    _ = consume run
    let entrance = try #require(found)
    let attempt = try entrance.attempt(stateDirectory: file.stateDirectory)
    #expect(throws: VaultError.noSuchSlot(.passcode)) {
      _ = try attempt.open(.passcode, secret: secret(TestVault.passcode))
    }
    let key = try attempt.open(.recoveryKey, secret: secret(recoveryKey))
    try vault.complete(
      try vault.beginEntering(entrance, by: key, authorizedBy: try file.key()))
    vault.fold()
    file.recoveryKey = recoveryKey
    file.opener = (text(file), .recoveryKey)
  }

  func epoch(_ file: TestVault) throws -> DeviceTable.Epoch {
    let vault = try file.unlock()
    let epoch = vault.keys.ring.ledger?.epoch ?? .zero
    vault.fold()
    return epoch
  }
}
