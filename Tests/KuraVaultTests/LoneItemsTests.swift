// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Items of which one copy has one row and the other one nothing are taken as they are, many at once, and come to what they
/// would come to one by one, among all others.
@Suite struct `Items that only one copy has` {
  enum Way: CaseIterable { case file, fileUnderOtherKey, packs, onePack }

  /// More than are sealed at once.
  private static let count = 270

  private static func take(_ other: TestVault, into file: TestVault, by way: Way) throws {
    switch way {
    case .file, .fileUnderOtherKey: _ = try Copies.merge(other, into: file)
    case .packs: _ = try Cargo(of: other, limit: 20_000).unload(into: file)
    case .onePack: _ = try Cargo(of: other, limit: .max).unload(into: file)
    }
  }

  private static func name(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Some of every kind, among such as both copies have.
  private static func fill(_ vault: inout UnlockedVault) throws {
    for number in 0..<count {
      let item = "new/\(number)"
      try vault.put(item, name("value \(number)"), .create, ["n": "\(number)"])
      switch number % 25 {
      case 3: try vault.remove(item)
      case 7: try vault.put(item, "changed \(number)")
      case 11: _ = try vault.protect(name(item).span)
      case 13: try vault.setSecret("pin", "\(number)", of: item)
      case 17: _ = try vault.move(name(item).span, to: name("moved/\(number)").span)
      case 19: if number < 100 { try vault.upload("long/\(number)", pattern(70_000, seed: 3)) }
      default: break
      }
    }
    for number in 0..<12 {
      _ = try vault.move(name("seat/\(number)").span, to: name("stands/\(number)").span)
      try vault.put("seat/\(number)", "sits")
      try vault.put("both/\(number)", "there")
      try vault.put("ghost/\(number)", "back")
    }
  }

  /// What a copy shows of each item.
  private static func state(_ file: TestVault) throws -> Set<String> {
    var lines: Set<String> = []
    try file.fill { vault throws in
      var listing = vault.listing(includingDeleted: true)
      while let item = try listing.next(in: &vault) {
        var line = "\(text(of: item.name)) \(item.isDeleted) \(item.isProtected) \(item.size)"
        var cursor = item.attributes.makeCursor()
        while cursor.advance() { line += " \(text(of: cursor.key))=\(text(of: cursor.value))" }
        lines.insert(line)
      }
    }
    return lines
  }

  @Test(arguments: Way.allCases) func `come as they are`(way: Way) throws {
    let pair = try Copies()
    try pair.here { vault throws in
      for number in 0..<12 {
        try vault.put("seat/\(number)", "stood")
        try vault.put("ghost/\(number)", "gone")
      }
    }
    try pair.part()
    try pair.there { try Self.fill(&$0) }
    try pair.here { vault throws in
      for number in 0..<12 {
        try vault.put("both/\(number)", "here")
        _ = try vault.purge(Self.name("ghost/\(number)").span, .item)
      }
    }
    if way == .fileUnderOtherKey { try Copies.rekey(pair.second) }
    try Self.take(pair.second, into: pair.first, by: way)
    try pair.here { vault throws in
      for number in 0..<12 {
        #expect(try vault.getText("seat/\(number)") == "sits")
        #expect(try vault.getText("stands/\(number)") == "stood")
        #expect(try vault.getText("ghost/\(number)") == "back")
      }
      #expect(try vault.names().filter { $0.hasPrefix("both/") }.count == 24)
      #expect(try vault.getText("new/7") == "changed 7")
      #expect(try vault.openedText("new/11") == "value 11")
      #expect(try vault.secretText("new/13", "pin") == "13")
      #expect(try vault.getText("moved/17") == "value 17")
      #expect(try vault.get("long/19") == pattern(70_000, seed: 3))
      #expect(try vault.findings() == [])
    }
    try Self.take(pair.first, into: pair.second, by: way)
    #expect(try Self.state(pair.first) == Self.state(pair.second))
    #expect(try pair.merge() == MergeReport())
    guard way != .fileUnderOtherKey else { return }
    var sums: [[UInt8]] = []
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in sums.append(try vault.fingerprintOfItems()) }
    }
    #expect(sums[0] == sums[1])
  }

  /// What a copy knows of a purge reaches who never had the item.
  @Test(arguments: [Way.file, .onePack])
  func `bring what is known of their purge`(way: Way) throws {
    let pair = try Copies()
    try pair.part()
    let third = try TestVault.machine(3)
    try pair.there { try $0.put("a", "1") }
    try Copies.copy(pair.second, to: third)
    try pair.there { _ = try $0.purge(Self.name("a").span, .item) }
    try third.fill { try $0.put("a", "2") }
    _ = try Copies.merge(third, into: pair.second)
    try Self.take(pair.second, into: pair.first, by: way)
    var sums: [[UInt8]] = []
    for copy in [pair.first, pair.second] {
      try copy.fill { vault throws in
        #expect(try vault.getText("a") == "2")
        sums.append(try vault.fingerprintOfItems())
      }
    }
    #expect(sums[0] == sums[1])
  }

  /// Who has the keys can seal a row that names a secret attribute and has none: nobody could bring it together with
  /// another one, or hand it on.
  @Test func `are refused where a body has not what its meta names`() throws {
    let pair = try Copies()
    try pair.here { try $0.setPolicy(.historyDepth, to: 0) }
    try pair.part()
    try pair.there { vault throws in
      try vault.put("a", "1")
      try vault.setSecret("pin", "4711", of: "a")
      try vault.stripSecrets(of: "a")
    }
    #expect(throws: VaultError.copyDamaged) { try pair.merge() }
    try pair.here { vault throws in #expect(try vault.findings() == []) }
  }

  /// Such have one row where no earlier value is kept.
  @Test(arguments: Way.allCases) func `come with their secret attributes and codes`(way: Way) throws
  {
    let pair = try Copies()
    try pair.here { try $0.setPolicy(.historyDepth, to: 0) }
    try pair.part()
    let code = "otpauth://hotp/a?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=3"
    try pair.there { vault throws in
      for item in ["a", "deep"] {
        try vault.put(item, "1")
        try vault.setSecret("pin", "4711", of: item)
      }
      _ = try vault.protect(Self.name("deep").span)
      _ = try vault.put(
        Self.name("bank").span, value: Self.name(code).span, attributes: AttributeEdits(),
        condition: .create, kind: .otp)
    }
    if way == .fileUnderOtherKey { try Copies.rekey(pair.second) }
    try Self.take(pair.second, into: pair.first, by: way)
    try pair.here { vault throws in
      #expect(try vault.secretText("a", "pin") == "4711")
      #expect(try vault.openedText("deep") == "1")
      #expect(try vault.item("deep").isProtected && vault.item("bank").isOTP)
      #expect(try vault.getText("bank") == code)
      #expect(try vault.findings() == [])
    }
    #expect(try Self.state(pair.first) == Self.state(pair.second))
  }

  /// However large they are, what a step opens and what is held stay small.
  @Test func `are taken in small parts where they are large`() throws {
    let pair = try Copies()
    try pair.part()
    try pair.there { vault throws in
      for number in 0..<40 {
        try vault.put("large/\(number)", [UInt8](repeating: 7, count: 60_000))
      }
    }
    var vault = try pair.first.unlock()
    var work = try vault.beginMerge(try vault.openCopy(at: pair.second.path))
    var (claims, most, held) = (0, 0, 0)
    repeat {
      most = max(most, work.survey.claims.count - claims)
      claims = work.survey.claims.count
      held = max(held, work.sealed.reduce(0) { $0 + $1.row.byteCount })
    } while try work.step()
    #expect(claims == 40 && most <= 8)
    #expect(held > 0 && held < 1_300_000)
    #expect(try vault.finish(work).added == 40)
    vault.fold()
  }
}

extension UnlockedVault {
  /// Seals the only row of an item anew without its secret attributes, and leaves its meta as it is.
  fileprivate mutating func stripSecrets(of item: String) throws {
    try writing { vault, draft throws(VaultError) in
      let name = Array(item.utf8)
      let tag = try vault.keys.tag(of: ItemName.checked(name.span))
      var path = try vault.rows.tree.path(
        to: tag, under: draft.root, in: &vault.rows.storage, vault.keys)
      guard let leaf = BucketLeaves(path.leaves.span).leaf(of: tag) else { throw .notFound }
      let copy = try vault.rows.itemCopy(tag, leaf: leaf, vault.keys)
      guard copy.rows.count == 1, let row = copy.rows.first else { throw .notFound }
      let meta = try vault.keys.seal(row.meta, row.facts)
      let body = try row.withBody { body throws(VaultError) in
        try vault.keys.seal(body: body, row.facts)
      }
      let sealed = ResealedRow(facts: row.facts, meta: meta, body: body)
      try vault.rows.storage.store(sealed, [])
      path.leaves.setLeaf(try vault.keys.leaf(of: sealed, []), of: tag)
      draft.root.treeRoot = try vault.rows.tree.store(path, in: &vault.rows.storage, vault.keys)
    }
  }
}
