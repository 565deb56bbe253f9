// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraStorage
import KuraTerms
import SecureMemory
import Testing

@testable import KuraVault

/// A clone has the same items in every respect, and nothing else in common with its vault.
@Suite struct `A clone` {
  private static let passcodeOfOther = "another horse"

  private func target(_ file: TestVault) -> String { file.directory + "/clone/test.kura" }

  /// Where the clone is a vault like any.
  private func place(_ file: TestVault) throws -> TestVault {
    let clone = try TestVault(creating: false)
    try FileManager.default.createDirectory(
      atPath: clone.directory + "/vault", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    clone.sharedState = file.stateDirectory
    return clone
  }

  private func make(
    _ file: TestVault, at clone: TestVault, _ slots: borrowing RekeySlots
  ) throws {
    var vault = try file.unlock()
    let backup = Backup(of: try file.open(), toClone: clone.path)
    backup.copy()
    _ = try #require(backup.copied).get()
    try complete(&vault, backup, file, slots)
    backup.publish()
    _ = try #require(backup.made).get()
    vault.fold()
  }

  private func complete(
    _ vault: inout UnlockedVault, _ backup: Backup, _ file: TestVault,
    _ slots: borrowing RekeySlots
  ) throws {
    var cloning = try vault.beginClone(of: backup, authorizedBy: file.key(), slots)
    while try cloning.step() {}
  }

  private func make(_ file: TestVault) throws -> TestVault {
    let clone = try place(file)
    try make(file, at: clone, try .cheap())
    return clone
  }

  /// A vault with all that one can have.
  private func filled(_ isOld: Bool, _ dice: inout SystemDice) throws -> TestVault {
    let pair = try Copies(ofFirstFormat: isOld)
    try pair.first.fill { vault throws in
      var purged: Set<String> = []
      for step in 0..<40 { _ = try vault.change(step, &dice, &purged) }
      for number in 0..<20 { try vault.put("kept/\(number)", "\(number)") }
      let long = Array("long".utf8)
      try vault.upload("long", pattern(200_000))
      try vault.upload("long", pattern(70_000, seed: 11))
      _ = try vault.restore(long.span, revision: 1)
      try vault.setAttributes(long.span, try edits(["k": "v"]))
      try vault.upload("long/protected", pattern(150_000, seed: 12))
      _ = try vault.protect(Array("long/protected".utf8).span)
      try vault.upload("gone", pattern(90_000, seed: 13))
      _ = try vault.purge(Array("gone".utf8).span, .item)
      try vault.put("code", "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP")
      try vault.setPolicy(.historyDepth, to: 7)
      if !isOld { try vault.setSecret("pin", "4711", of: "long") }
      if !isOld { try vault.setSecret("pin", "0815", of: "long/protected") }
    }
    guard !isOld else { return pair.first }
    // Sides, conflicts, names that gave way.
    try pair.part()
    var purged: Set<String> = []
    for file in [pair.first, pair.second] {
      try file.fill { vault throws in
        for step in 100..<130 { _ = try vault.change(step, &dice, &purged) }
        try vault.put("both", "\(file.path)")
      }
    }
    _ = try pair.merge()
    return pair.first
  }

  @Test(arguments: [false, true])
  func `has every item in all respects, and shares no key, id or ciphertext`(isOld: Bool) throws {
    for _ in 0..<Copies.runs {
      let seed = Copies.seed()
      var dice = SystemDice(seed: seed)
      let file = try filled(isOld, &dice)
      let before = try file.content()
      let clone = try make(file)
      #expect(try file.content() == before)
      var vault = try file.unlock()
      var other = try clone.unlock()
      #expect(other.notices == [.weakSlot])
      #expect(try vault.everyRow(file) == other.everyRow(clone), "seed \(seed)")
      #expect(try vault.conflicts() == other.conflicts(), "seed \(seed)")
      #expect(vault.policy == other.policy && other.policy[.historyDepth] == 7)
      #expect(other.format == vault.format && other.summary.itemCount == vault.summary.itemCount)
      #expect(try other.findings() == [])
      #expect(other.id != vault.id)
      #expect(other.keys.ring.protectedHalf != vault.keys.ring.protectedHalf)
      #expect(other.trust.root.epoch == 1 && other.trust.root.previous == .zero)
      #expect(other.trust.root.copy?.counter == (isOld ? nil : 0))
      #expect(isOld || other.trust.root.copy?.device != vault.trust.root.copy?.device)
      // What is changed in one is not the other's, and each goes on as a vault does.
      try other.put("after", "there")
      try vault.put("after", "here")
      #expect(try other.getText("after") == "there")
      #expect(try other.findings() == [])
      vault.fold()
      other.fold()
      let (mine, theirs) = (file.secretsOfFile(), clone.secretsOfFile())
      #expect(mine.count > 50 && theirs.count > 50 && mine.isDisjoint(with: theirs))
      #expect(clone.files == ["test.kura"])
    }
  }

  @Test func `opens by what was shown, and by nothing else that opened the vault`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    let bytes = pattern(64)
    try file.fill { vault throws in
      try vault.put("a", "1")
      try vault.addSlot(try PreparedSlot.keyFile(secret(bytes)), authorizedBy: file.key())
      let second = try PreparedSlot.passcode(
        secret(Self.passcodeOfOther), kdf: TestVault.kdf, allowsWeak: true)
      try vault.addSlot(second, authorizedBy: file.key())
    }
    let clone = try place(file)
    let slots = RekeySlots(
      passcode: try PreparedSlot.passcode(
        secret(TestVault.passcode), kdf: TestVault.kdf, allowsWeak: true),
      keyFile: try PreparedSlot.keyFile(secret(bytes)), keyFileNumber: 2,
      recovery: try PreparedSlot.recoveryKey())
    let recovery = text(of: slots.recoveryKeyText)
    try make(file, at: clone, slots)
    #expect(clone.refusal() == nil)
    #expect(clone.refusal(recovery, .recoveryKey) == nil)
    #expect(clone.refusal(Self.passcodeOfOther) == .wrongPasscode)
    let old = String(decoding: file.recoveryKey, as: UTF8.self)
    #expect(clone.refusal(old, .recoveryKey) == .wrongPasscode)
    #expect(file.refusal(recovery, .recoveryKey) == .wrongPasscode)
    var locked = try clone.open()
    let key = try locked.attempt().open(.keyFile, secret: secret(bytes))
    var vault = try locked.unlock(with: key)
    #expect(try vault.getText("a") == "1")
    vault.fold()
  }

  @Test func `leaves nothing under the name, and nothing beside it, when it is dropped`() throws {
    let file = try TestVault()
    try file.fill { vault throws in
      for number in 0..<300 { try vault.put("item/\(number)", "\(number)") }
      try vault.upload("long", pattern(3_000_000))
    }
    let clone = try place(file)
    for steps in [0, 1, 3, 9, 40] {
      var vault = try file.unlock()
      let backup = Backup(of: try file.open(), toClone: clone.path)
      backup.copy()
      try take(steps, &vault, backup, file)
      vault.fold()
      #expect(clone.files.allSatisfy { $0.hasPrefix(".kura-backup-") }, "\(clone.files)")
      // Nobody takes it for something left behind, and its own files neither.
      let copied = clone.files
      FileDraft.sweep(try FilePlace.resolve(clone.path))
      #expect(clone.files == copied)
    }
    #expect(clone.files == [])
  }

  private func take(
    _ steps: Int, _ vault: inout UnlockedVault, _ backup: Backup, _ file: TestVault
  ) throws {
    var cloning = try vault.beginClone(of: backup, authorizedBy: file.key(), try .cheap())
    for _ in 0..<steps { _ = try cloning.step() }
    // A copy that has not become another vault is never one.
    guard steps < 9 else { return }
    backup.publish()
    #expect(throws: Backup.Failure.self) { try #require(backup.made).get() }
  }

  @Test func `takes the place of nothing`() throws {
    let file = try TestVault()
    try file.fill { vault throws in try vault.put("a", "1") }
    let clone = try place(file)
    try Data("mine".utf8).write(to: URL(filePath: clone.path))
    let early = Backup(of: try file.open(), toClone: clone.path)
    early.copy()
    #expect(throws: Backup.Failure.vault(.pathTaken)) { try #require(early.copied).get() }
    try FileManager.default.removeItem(atPath: clone.path)
    // And where something came to stand there meanwhile.
    var vault = try file.unlock()
    let late = Backup(of: try file.open(), toClone: clone.path)
    late.copy()
    try complete(&vault, late, file, try .cheap())
    vault.fold()
    try Data("mine".utf8).write(to: URL(filePath: clone.path))
    late.publish()
    #expect(throws: Backup.Failure.vault(.pathTaken)) { try #require(late.made).get() }
    #expect(try clone.content() == Data("mine".utf8))
  }

  @Test func `is none of a vault that is damaged`() throws {
    for attack in [
      "UPDATE item SET meta = zeroblob(328) WHERE rowid = (SELECT min(rowid) FROM item)",
      "UPDATE chunk SET data = zeroblob(length(data)) WHERE number = 1",
      "DELETE FROM chunk WHERE number = 2",
    ] {
      let file = try TestVault()
      try file.fill { vault throws in
        try vault.put("a", "1")
        try vault.upload("long", pattern(200_000))
      }
      file.attack(attack.replacing("rowid", with: "tag"))
      let clone = try place(file)
      var vault = try file.unlock()
      let backup = Backup(of: try file.open(), toClone: clone.path)
      backup.copy()
      #expect(throws: VaultError.self, "\(attack)") {
        try complete(&vault, backup, file, try .cheap())
      }
      vault.fold()
    }
  }

  @Test func `is proved by its own keys before it has a name`() throws {
    let file = try TestVault()
    try file.fill { vault throws in try vault.put("a", "1") }
    let clone = try place(file)
    var vault = try file.unlock()
    let backup = Backup(of: try file.open(), toClone: clone.path)
    backup.copy()
    var isNoticed = false
    do {
      var cloning = try vault.beginClone(of: backup, authorizedBy: file.key(), try .cheap())
      while cloning.progress.done < 600 { _ = try cloning.step() }
      // What a disk makes of what was written.
      let draft = try #require(backup.draftPath)
      try damage(draft)
      while try cloning.step() {}
    } catch { isNoticed = true }
    vault.fold()
    #expect(isNoticed)
  }

  private func damage(_ path: String) throws {
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    let count = try handle.seekToEnd()
    for offset in stride(from: UInt64(16_384), to: count, by: 16_384) {
      try handle.seek(toOffset: offset + 16_000)
      try handle.write(contentsOf: Data(repeating: 7, count: 200))
    }
    try handle.close()
  }

  @Test func `is merged with its vault by its passcode, and the other way round`() throws {
    let file = try filledForMerge()
    let clone = try make(file)
    clone.machine = Array("another machine".utf8)
    try clone.fill { vault throws in
      try vault.put("a", "there")
      try vault.put("new", "there")
      try vault.setAttributes(Array("long".utf8).span, try edits(["k": "there"]))
      try vault.setAttributes(Array("long/deep".utf8).span, try edits(["k": "there"]))
      try vault.setSecret("pin", "4711", of: "deep")
    }
    try file.fill { vault throws in
      try vault.put("b", "here")
      #expect(throws: VaultError.copyRefused(.otherKey)) { _ = try vault.opens(clone.path) }
    }
    let report = try Copies.merge(clone, into: file)
    #expect(report.added == 1 && report.changed == 4 && report.conflicting == 0)
    try file.fill { vault throws in
      #expect(try vault.getText("a") == "there" && vault.getText("a", revision: 1) == "1")
      #expect(try vault.getText("b") == "here")
      #expect(try vault.get("long") == pattern(200_000))
      #expect(try vault.openedText("deep") == "hidden")
      #expect(try vault.conflicts() == [])
      #expect(try vault.findings() == [])
    }
    #expect(try Copies.merge(file, into: clone).changed == 1)
    #expect(try Copies.state(file) == Copies.state(clone))
    #expect(try Copies.merge(clone, into: file) == MergeReport())
    #expect(try clone.unlockedFindings() == [])
    try file.fill { try $0.put("a", "here") }
    try clone.fill { try $0.put("a", "there again") }
    #expect(try Copies.merge(clone, into: file).conflicting == 1)
    #expect(try file.allValues().isSuperset(of: ["here", "there again"]))
  }

  private func filledForMerge() throws -> TestVault {
    let file = try Copies().first
    try file.fill { vault throws in
      try vault.put("a", "1")
      try vault.put("b", "1")
      try vault.upload("long", pattern(200_000))
      try vault.upload("long/deep", pattern(150_000, seed: 5))
      _ = try vault.protect(Array("long/deep".utf8).span)
      try vault.put("deep", "hidden")
      try vault.setSecret("pin", "0815", of: "deep")
      _ = try vault.protect(Array("deep".utf8).span)
    }
    return file
  }

  @Test func `carries no piece that nobody names`() throws {
    let file = try TestVault()
    try file.fill { vault throws in
      try vault.put("a", "1")
      let name = Array("half".utf8)
      var upload = try vault.beginUpload(
        name.span, attributes: AttributeEdits(), condition: .create)
      let value = pattern(1_000_000)
      for _ in 0..<3 { try vault.append(value.span, to: &upload) }
    }
    #expect(file.attack("SELECT count(*) > 0 FROM chunk") == ["1"])
    let clone = try make(file)
    #expect(clone.attack("SELECT count(*) FROM chunk") == ["0"])
    #expect(clone.attack("SELECT count(*) FROM loose") == ["0"])
  }
}

extension TestVault {
  /// All in the file that comes of keys or names something, as hexadecimal digits.
  fileprivate func secretsOfFile() -> Set<String> {
    Set(
      attack(
        "SELECT hex(tag) FROM item", "SELECT hex(meta) FROM item", "SELECT hex(body) FROM item",
        "SELECT hex(meta) FROM history", "SELECT hex(body) FROM history",
        "SELECT hex(value) FROM chunk", "SELECT hex(data) FROM chunk",
        "SELECT hex(data) FROM part", "SELECT hex(header) FROM slot", "SELECT hex(key) FROM slot",
        "SELECT hex(protected) FROM slot", "SELECT hex(leaves) FROM bucket",
        "SELECT hex(digests) FROM node"
      ).filter { $0.count >= 32 })
  }
}

extension UnlockedVault {
  /// All that is known of every row, but for what keys and places make of it.
  fileprivate mutating func everyRow(_ file: TestVault) throws -> [String] {
    var lines: [String] = []
    let key: ProtectedKey? = try protectedKey(from: file.key())
    let root = trust.root
    try reading { vault throws(VaultError) in
      for number in 0..<(UInt32(1) << (6 * UInt32(root.depth))) {
        let bytes = try vault.rows.tree.leaves(
          ofBucket: number, under: root, in: &vault.rows.storage, vault.keys)
        let leaves = BucketLeaves(bytes.span)
        for index in 0..<leaves.count {
          let copy = try vault.rows.itemCopy(
            leaves.tag(index), leaf: leaves.leaf(index), vault.keys)
          for row in copy.rows { lines.append(row.line) }
        }
      }
    }
    for name in try names(includingDeleted: true) {
      let bytes = Array(name.utf8)
      for revision in [nil] + (try revisions(name)).map(Optional.some) {
        do throws(VaultError) {
          var value = try value(bytes.span, revision: revision, with: key)
          var whole = value.isStream ? [] : KuraVaultTests.bytes(of: value.bytes)
          while let piece = try value.next(in: &self) {
            whole += KuraVaultTests.bytes(of: piece.bytes)
          }
          let secrets = try secretAttributes(of: bytes.span, revision: revision, with: key)
          lines.append(
            "\(name) \(revision ?? 0) \(Scan.hex(whole)) "
              + Scan.hex(KuraVaultTests.bytes(of: secrets.bytes)))
        } catch {
          guard error == .revisionNotFound || error == .notFound else { throw error }
        }
      }
    }
    return lines.sorted()
  }
}

extension Scan {
  fileprivate static func hex(_ bytes: [UInt8]) -> String {
    "\(bytes.count) " + bytes.prefix(2_000).map { String($0, radix: 16) }.joined(separator: ".")
  }
}

extension OpenedRow {
  fileprivate var line: String {
    "\(facts.id) \(facts.revision) \(facts.protection) \(facts.kind) \(stamp) "
      + OpenedRow.hex(meta)
  }

  private static func hex(_ meta: borrowing ItemMeta) -> String {
    Scan.hex(KuraVaultTests.bytes(of: meta.encoded))
  }
}
