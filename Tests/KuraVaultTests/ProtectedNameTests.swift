// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A name that something protected was stored under` {
  private static let names = ["a", "b", "c", "d", "e"]

  /// Steps of any kind, all of them without the owner's proof: what is refused changes nothing, what is
  /// allowed leaves no standard item there.
  @Test(arguments: 5...9 as ClosedRange<UInt64>)
  func `never holds a standard item, whatever is done without the owner`(seed: UInt64) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    var dice = SystemDice(seed: seed)
    var held: Set<String> = []
    var taken = 0
    for number in 0..<200 {
      let step = Step(&dice)
      do throws(VaultError) {
        try vault.take(step, &dice)
        taken += 1
      } catch { #expect(error.isExpected, "\(step): \(error)") }
      for name in Self.names {
        let protection = try vault.protection(of: name)
        if held.contains(name) {
          #expect(protection == .protected, "step \(number), \(step): \(name)")
        }
        if protection == .protected { held.insert(name) }
      }
    }
    #expect(taken > 40 && !held.isEmpty)
    #expect(try vault.findings() == [])
  }

  @Test func `is exchanged with another one by the owner alone`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1", protecting: true)
    try vault.put("b", "2", protecting: true)
    for (old, new) in [("a", "t"), ("b", "a"), ("t", "b")] {
      #expect(throws: VaultError.self) { try vault.move(old, new) }
      try vault.move(old, new, by: try vault.owner())
    }
    #expect(try vault.protection(of: "a") == .protected)
    #expect(try vault.protection(of: "b") == .protected)
    let key: ProtectedKey? = try vault.protectedKey(from: try file.key())
    #expect(try vault.get("a", with: key) == Array("2".utf8))
  }

  @Test func `is not taken over, deleted or not, by a standard item`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1", protecting: true)
    try vault.put("x", "2")
    #expect(throws: VaultError.exists(revision: 1)) { try vault.move("x", "a") }
    #expect(throws: VaultError.ownerNeeded) { try vault.move("x", "a", replacing: true) }
    try vault.remove("a")
    #expect(throws: VaultError.ownerNeeded) { try vault.move("x", "a") }
    #expect(throws: VaultError.ownerNeeded) { try vault.purge("a", .item) }
    try vault.move("x", "a", by: try vault.owner())
    #expect(try vault.protection(of: "a") == .standard)
    #expect(try vault.protection(of: "x") == .protected)
  }

  @Test func `keeps its earlier values until the owner says otherwise`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1", protecting: true)
    try vault.put("a", "2")
    for scope in [PurgeScope.history, .revision(1), .item] {
      #expect(throws: VaultError.ownerNeeded) { try vault.purge("a", scope) }
    }
    #expect(try vault.revisions("a") == [1])
    #expect(throws: VaultError.revisionCurrent) { try vault.purge("a", .revision(2)) }
    #expect(throws: VaultError.revisionNotFound) { try vault.purge("a", .revision(9)) }
    try vault.purge("a", .history, by: try vault.owner())
    #expect(try vault.revisions("a") == [])
    try vault.purge("a", .item, by: try vault.owner())
    #expect(throws: VaultError.notFound) { try vault.revisions("a") }
    try vault.put("b", "1")
    try vault.purge("b", .item)
  }
}

/// A step that anybody may try while the vault is unlocked.
private enum Step: CaseIterable {
  case put, putProtected, batch, upload, attributes, remove, move, replace, restore, restoreFormer
  case purge, purgeHistory, purgeRevision, protect, exchange

  init(_ dice: inout SystemDice) { self = Self.allCases[dice.below(Self.allCases.count)] }
}

/// Numbers that a seed tells.
struct SystemDice {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func below(_ count: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % count
  }
}

extension VaultError {
  /// Whether a step may end so that does not fit.
  fileprivate var isExpected: Bool {
    switch self {
    case .notFound, .exists, .ownerNeeded, .notDeleted, .revisionNotFound, .revisionCurrent: true
    default: false
    }
  }
}

extension UnlockedVault {
  fileprivate mutating func take(_ step: Step, _ dice: inout SystemDice) throws(VaultError) {
    let names = ["a", "b", "c", "d", "e"]
    let (name, other) = (names[dice.below(5)], names[dice.below(5)])
    let revision = UInt64(dice.below(4) + 1)
    switch step {
    case .put: try put(name, "1")
    // Seldom: else nothing standard is left to be moved.
    case .putProtected: try put(name, "2", protecting: dice.below(4) == 0)
    case .batch: try putBatch([name, other])
    case .upload: try upload(name, pattern(70_000))
    case .attributes: try setAttributes(Array(name.utf8).span, try edits(["k": "v"]))
    case .remove: try remove(name)
    case .move: try move(name, other)
    case .replace: try move(name, other, replacing: true)
    case .restore: _ = try restore(Array(name.utf8).span)
    case .restoreFormer: _ = try restore(Array(name.utf8).span, revision: revision)
    case .purge: try purge(name, .item)
    case .purgeHistory: try purge(name, .history)
    case .purgeRevision: try purge(name, .revision(revision))
    case .protect: if dice.below(6) == 0 { try protect(Array(name.utf8).span) }
    case .exchange:
      try move(name, "t")
      try move(other, name, replacing: true)
      try move("t", other, replacing: true)
    }
  }

  private mutating func putBatch(_ names: [String]) throws(VaultError) {
    var batch = try beginBatch(replacing: true)
    for name in names {
      _ = try add(
        Array(name.utf8).span, value: [1].span, attributes: [0, 0].span, as: BatchManner(),
        to: &batch)
    }
    while try advance(batch: &batch) {}
  }

  fileprivate mutating func protection(of name: String) throws(VaultError) -> ProtectionClass? {
    let tag = try tag(of: Array(name.utf8).span)
    return try reading { vault throws(VaultError) in try vault.verifiedHistory(tag)?.0.protection }
  }

  fileprivate mutating func put(
    _ name: String, _ value: String, protecting: Bool
  ) throws(VaultError) {
    _ = try put(
      Array(name.utf8).span, value: Array(value.utf8).span, attributes: AttributeEdits(),
      condition: .replace, protecting: protecting)
  }

  fileprivate mutating func move(
    _ name: String, _ new: String, replacing: Bool = false, by owner: borrowing OwnerProof? = nil
  ) throws(VaultError) {
    _ = try move(Array(name.utf8).span, to: Array(new.utf8).span, replacing: replacing, by: owner)
  }

  fileprivate mutating func purge(
    _ name: String, _ scope: PurgeScope, by owner: borrowing OwnerProof? = nil
  ) throws(VaultError) {
    var purge = try purge(Array(name.utf8).span, scope, by: owner)
    while try advance(&purge) {}
    try finishPurge()
  }
}
