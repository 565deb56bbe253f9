// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A protected value` {
  @Test(arguments: [0, 1, 200, 65_536, 65_537, 200_000])
  func `opens with the secret half, and without it never`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(count), protecting: true)
    #expect(try vault.item("a").isProtected)
    #expect(try vault.item("a").size == UInt64(count))
    #expect(throws: VaultError.protected) { try vault.get("a") }
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", with: key) == pattern(count))
    #expect(try vault.findings() == [])
  }

  @Test func `is not readable with the key of another vault`() throws {
    let (file, other) = (try TestVault(), try TestVault())
    var vault = try file.unlock()
    var foreign = try other.unlock()
    try vault.store("a", pattern(5), protecting: true)
    let key: ProtectedKey? = try foreign.protectedKey(from: try other.key())
    #expect(throws: VaultError.protected) { try vault.get("a", with: key) }
    let stranger = try other.key()
    #expect(throws: VaultError.credentialStale) { _ = try vault.protectedKey(from: stranger) }
  }

  @Test func `stays so when it is replaced, deleted, stored anew or gets attributes`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(70_000), protecting: true)
    let name = Array("a".utf8)
    try vault.setAttributes(name.span, try edits(["user": "mary"]))
    try vault.store("a", pattern(3))
    try vault.remove("a")
    try vault.store("a", pattern(4))
    #expect(try vault.item("a").isProtected)
    #expect(try vault.revisions("a") == [1, 2, 3, 4])
    for revision: UInt64? in [nil, 1, 2, 3] {
      #expect(throws: VaultError.protected) { try vault.get("a", revision: revision) }
    }
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", revision: 1, with: key) == pattern(70_000))
    #expect(try vault.get("a", revision: 2, with: key) == pattern(70_000))
    #expect(try vault.get("a", revision: 3, with: key) == pattern(3))
    #expect(try vault.get("a", with: key) == pattern(4))
    #expect(try vault.findings() == [])
  }

  @Test func `gives its chunks back once no revision has them`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(200_000), protecting: true)
    try vault.store("a", pattern(3))
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM chunk") == ["4"])
    let owner: OwnerProof? = try vault.owner()
    _ = try vault.purge(Array("a".utf8).span, .history, by: owner)
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM chunk") == ["0"])
    #expect(try vault.findings() == [])
  }

  @Test func `is not pushed out by others, whatever the depth`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.historyDepth, to: 1)
    for count in 1...5 { try vault.store("a", pattern(count), protecting: count == 1) }
    try vault.remove("a")
    #expect(try vault.revisions("a") == [1, 2, 3, 4, 5])
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", revision: 1, with: key) == pattern(1))
  }

  @Test func `is forgotten by no write when its history is full: the owner makes room`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(1), protecting: true)
    let most = Setting.historyDepth.range.upperBound
    for _ in 0..<most { try vault.put("a", "") }
    #expect(throws: VaultError.historyFull) { try vault.put("a", "") }
    #expect(throws: VaultError.historyFull) { try vault.remove("a") }
    let owner: OwnerProof? = try vault.owner()
    #expect(try vault.purge(Array("a".utf8).span, .history, by: owner).removedCount == most)
    try vault.put("a", "more")
    #expect(try vault.findings() == [])
  }

  @Test(arguments: [
    ("DELETE FROM chunk WHERE number = 1", "chunk: a"),
    ("UPDATE chunk SET data = substr(data, 1, 100) WHERE number = 3", "chunk: a"),
    ("UPDATE item SET class = 0", "item: tag"),
    ("UPDATE item SET body = CAST(substr(body, 1, 200) || zeroblob(128) AS BLOB)", "item: a"),
  ])
  func `is verified as far as that goes without the passcode`(
    attack: String, finding: String
  ) throws {
    let file = try TestVault()
    try file.fill { try $0.store("a", pattern(200_000), protecting: true) }
    var vault = try file.unlock()
    file.attack(attack)
    #expect(try vault.findings().contains { $0.hasPrefix(finding) })
  }

  @Test func `takes a slot that holds the secret half`() throws {
    let file = try TestVault(wantsRecoveryKey: true)
    var vault = try file.unlock()
    try vault.store("a", pattern(5), protecting: true)
    for isWith in [false, true] {
      let bytes = pattern(40, seed: isWith ? 1 : 2)
      try vault.addSlot(
        try PreparedSlot.keyFile(secret(bytes), withProtected: isWith),
        authorizedBy: try file.key())
      var locked = try file.open()
      let fresh = try locked.attempt().open(.keyFile, secret: secret(bytes))
      #expect(fresh.holdsProtectedHalf == isWith)
      guard isWith else {
        #expect(throws: VaultError.noProtectedHalf) { _ = try vault.protectedKey(from: fresh) }
        continue
      }
      let key: ProtectedKey? = try vault.protectedKey(from: fresh)
      #expect(try vault.get("a", with: key) == pattern(5))
    }
    let recovery = String(decoding: file.recoveryKey, as: UTF8.self)
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key(recovery, .recoveryKey))
    #expect(try vault.get("a", with: key) == pattern(5))
  }
}

@Suite struct `What opens one protected body` {
  /// A vault whose items `a` and `b` have a secret attribute.
  private func vault(_ file: TestVault) throws -> UnlockedVault {
    var vault = try file.unlock()
    for name in ["a", "b"] {
      try vault.store(name, pattern(5), protecting: true)
      if vault.format == .first { _ = try vault.takeOver() }
      try vault.setSecret("pin", "0815", of: name)
    }
    return vault
  }

  private func body(
    _ vault: inout UnlockedVault, _ file: TestVault, revision: UInt64? = nil
  ) throws -> BodyKey {
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    return try #require(
      try vault.bodyKey(Array("a".utf8).span, revision: revision, from: key))
  }

  @Test func `opens its value and its attributes, and no others`() throws {
    let file = try TestVault()
    var vault = try vault(file)
    let body = try body(&vault, file)
    #expect(body.count == 2)
    let key: ProtectedKey? = ProtectedKey(of: [body])
    #expect(try vault.get("a", with: key) == pattern(5))
    #expect(try vault.secretText("pin", of: "a", with: key) == "0815")
    let all = try vault.secretAttributes(of: Array("a".utf8).span, with: key)
    let pair = [3, 0] + Array("pin".utf8) + [4, 0, 0, 0] + Array("0815".utf8)
    #expect(bytes(of: all.bytes) == [1, 0] + pair)
    #expect(throws: VaultError.protected) { try vault.get("b", with: key) }
    #expect(throws: VaultError.protected) { _ = try vault.secretText("pin", of: "b", with: key) }
    #expect(throws: VaultError.notFound) { _ = try vault.secretText("hint", of: "a", with: key) }
    try vault.remove("a")
    #expect(throws: VaultError.notFound) { _ = try self.body(&vault, file) }
  }

  @Test func `opens neither a new value nor a new attribute`() throws {
    let file = try TestVault()
    var vault = try vault(file)
    let before = try body(&vault, file)
    let key: ProtectedKey? = ProtectedKey(of: [before])
    try vault.setSecret("hint", "blue", of: "a")
    #expect(try vault.get("a", with: key) == pattern(5))
    #expect(try vault.secretText("pin", of: "a", with: key) == "0815")
    #expect(throws: VaultError.protected) { _ = try vault.secretText("hint", of: "a", with: key) }
    #expect(throws: VaultError.protected) {
      _ = try vault.secretAttributes(of: Array("a".utf8).span, with: key)
    }
    #expect(try body(&vault, file).covers(before))
    #expect(try !before.covers(body(&vault, file)))
    try vault.store("a", pattern(6))
    try vault.setSecret("pin", "1", of: "a")
    #expect(throws: VaultError.protected) { try vault.get("a", with: key) }
    #expect(throws: VaultError.protected) { _ = try vault.secretText("pin", of: "a", with: key) }
    // The earlier revision is what was answered for.
    #expect(try body(&vault, file, revision: 2).covers(before))
    #expect(try vault.get("a", revision: 2, with: key) == pattern(5))
  }

  @Test func `is of the value that an item has, until that is another`() throws {
    let file = try TestVault()
    var vault = try vault(file)
    let before = try body(&vault, file)
    func isCurrent(_ name: String) throws -> Bool {
      try vault.isCurrent(before, of: Array(name.utf8).span)
    }
    #expect(try isCurrent("a") && !isCurrent("b") && !isCurrent("c"))
    let epoch = vault.lastEpoch
    // What is not the value leaves it as it is, and so does another name.
    try vault.setSecret("hint", "blue", of: "a")
    #expect(vault.lastEpoch > epoch)
    #expect(try isCurrent("a"))
    let owner: OwnerProof? = try vault.owner()
    _ = try vault.move(Array("a".utf8).span, to: Array("c".utf8).span, by: owner)
    #expect(try isCurrent("c") && !isCurrent("a"))
    try vault.store("c", pattern(5))
    #expect(try !isCurrent("c"))
  }

  @Test func `counts what it opens where that is asked for`() throws {
    let file = try TestVault()
    var vault = try vault(file)
    let opened = OpenedSeals()
    let key: ProtectedKey? = ProtectedKey(of: [try body(&vault, file)], counting: opened)
    #expect(try vault.get("a", with: key) == pattern(5))
    #expect(opened.count == 1)
    #expect(throws: VaultError.protected) { try vault.get("b", with: key) }
    #expect(opened.count == 1)
    _ = try vault.secretAttributes(of: Array("a".utf8).span, with: key)
    #expect(opened.count == 2)
  }
}

@Suite struct `Protecting an item` {
  @Test func `seals its whole history anew, and leaves nothing readable in any file`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(300))
    try vault.store("a", pattern(70_000))
    try vault.store("a", pattern(400))
    let old = Self.bodies(file)
    #expect(old.count == 3)
    #expect(try vault.protect("a") == 3)
    #expect(vault.mustTruncate == false)
    Self.expectGone(old, file)
    #expect(try vault.revisions("a") == [1, 2])
    for revision: UInt64? in [nil, 1, 2, 3] {
      #expect(throws: VaultError.protected) { try vault.get("a", revision: revision) }
    }
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", revision: 1, with: key) == pattern(300))
    #expect(try vault.get("a", revision: 2, with: key) == pattern(70_000))
    #expect(try vault.get("a", with: key) == pattern(400))
    #expect(try vault.findings() == [])
  }

  @Test func `happens with a value that is stored`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(300))
    try vault.store("a", pattern(70_000))
    let old = Self.bodies(file)
    try vault.store("a", pattern(400), protecting: true)
    Self.expectGone(old, file)
    #expect(throws: VaultError.protected) { try vault.get("a", revision: 1) }
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", revision: 2, with: key) == pattern(70_000))
    #expect(try vault.findings() == [])
  }

  @Test func `twice is done once, and what is not there is not found`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(3), protecting: true)
    let epoch = vault.summary.epoch
    #expect(try vault.protect("a") == 1)
    #expect(vault.summary.epoch == epoch)
    #expect(throws: VaultError.notFound) { try vault.protect("b") }
    try vault.remove("a")
    #expect(throws: VaultError.notFound) { try vault.protect("a") }
  }

  @Test func `is undone with the owner's proof only`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.store("a", pattern(70_000), protecting: true)
    try vault.store("a", pattern(5))
    let name = Array("a".utf8)
    #expect(throws: VaultError.ownerNeeded) { try vault.unprotect(name.span, by: nil) }
    #expect(try vault.item("a").isProtected)
    #expect(try vault.unprotect(name.span, by: try vault.owner()) == 2)
    #expect(try vault.get("a") == pattern(5))
    #expect(try vault.get("a", revision: 1) == pattern(70_000))
    #expect(try vault.item("a").isProtected == false)
    #expect(try vault.findings() == [])
  }

  /// The ciphertexts of all bodies, from the file.
  private static func bodies(_ file: TestVault) -> [[UInt8]] {
    let rows = file.attack(
      "SELECT hex(body) FROM item UNION ALL SELECT hex(body) FROM history")
    return rows.map { row in
      let digits = Array(row.utf8)
      return stride(from: 0, to: digits.count, by: 2).map { index in
        UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16) ?? 0
      }
    }
  }

  private static func expectGone(_ old: [[UInt8]], _ file: TestVault) {
    var sizes = 0
    for name in file.files {
      guard let content = try? file.content(of: name) else { continue }
      sizes += content.count
      for body in old {
        for start in stride(from: 0, to: body.count - 15, by: 16) {
          let window = Data(body[start..<(start + 16)])
          #expect(content.firstRange(of: window) == nil, "\(name), byte \(start)")
        }
      }
      guard name == "test.kura" else { continue }
      // The scanner finds what is there.
      for body in bodies(file) {
        #expect(content.firstRange(of: Data(body[0..<16])) != nil)
      }
    }
    #expect(sizes > 0)
  }
}

extension UnlockedVault {
  fileprivate mutating func store(
    _ name: String, _ value: [UInt8], protecting: Bool = false
  ) throws {
    let name = Array(name.utf8)
    if value.count <= 65_536 {
      _ = try put(
        name.span, value: value.span, attributes: AttributeEdits(), condition: .replace,
        protecting: protecting)
      return
    }
    var upload = try beginUpload(
      name.span, attributes: AttributeEdits(), condition: .replace, protecting: protecting)
    try append(value.span, to: &upload)
    _ = try commit(&upload)
  }

  fileprivate mutating func protect(_ name: String) throws -> UInt64 {
    let name = Array(name.utf8)
    return try protect(name.span)
  }

  /// The whole value, protected or not.
  mutating func get(
    _ name: String, revision: UInt64? = nil, with key: borrowing ProtectedKey?
  ) throws -> [UInt8] {
    let name = Array(name.utf8)
    var value = try value(name.span, revision: revision, with: key)
    guard value.isStream else { return bytes(of: value.bytes) }
    var all: [UInt8] = []
    while let piece = try value.next(in: &self) { all += bytes(of: piece.bytes) }
    return all
  }
}
