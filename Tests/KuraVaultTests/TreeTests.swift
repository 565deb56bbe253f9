// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import KuraStorage
import Testing

@testable import KuraVault

@Suite struct `The tree` {
  @Test func `gets a level when a bucket's share is exceeded`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let count = 4_097
    for number in 0..<count {
      try vault.put("item/\(number)", "\(number)")
      #expect(vault.trust.root.depth == (number < 4_096 ? 1 : 2))
    }
    for number in stride(from: 0, to: count, by: 97) {
      #expect(try vault.getText("item/\(number)") == "\(number)")
    }
    #expect(throws: VaultError.notFound) { try vault.get("item/\(count)") }
    #expect(try vault.names().count == count)
    try vault.put("item/0", "again")
    try vault.put("one more", "1")
    #expect(try vault.getText("item/0") == "again")
    #expect(try vault.findings() == [])
    // Another engine, which saw the shallow tree last, goes on with the deep one.
    var other = try file.unlock()
    try other.put("other", "1")
    #expect(try vault.getText("other") == "1")
    #expect(try other.findings() == [])
  }

  @Test func `is verified while it grows`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<4_096 { try vault.put("item/\(number)", "") }
    let damaged = file.attack("SELECT number FROM bucket LIMIT 1")[0]
    file.attack("UPDATE bucket SET leaves = zeroblob(48) WHERE number = \(damaged)")
    var failures = 0
    for number in 0..<20 {
      do { try vault.put("more/\(number)", "") } catch { failures += 1 }
    }
    #expect(failures == 20)
    #expect(vault.trust.root.depth == 1)
  }

  @Test func `keeps each node in a place of its own, and takes no more memory than it must`() throws
  {
    var cache = NodeCache()
    #expect(cache.byteCount == 0)
    for (level, most): (UInt8, Int) in [(0, 2_048), (1, 130 << 10), (2, 8_322 << 10)] {
      for index in 0..<(UInt32(1) << (6 * UInt32(level))) {
        let node = [UInt8](repeating: UInt8(index % 251) + level, count: 2_048)
        cache.keep(Tree.nodeID(level: level, index: index), node.span)
      }
      #expect(cache.byteCount == most)
    }
    for level: UInt8 in 0...2 {
      for index in 0..<(UInt32(1) << (6 * UInt32(level))) {
        let id = Tree.nodeID(level: level, index: index)
        #expect(cache.node(id)?.first == UInt8(index % 251) + level)
        #expect(cache.digest(of: id, child: 63)?.bytes.last == UInt8(index % 251) + level)
      }
    }
    #expect(cache.node(Tree.nodeID(level: 3, index: 0)) == nil)
    cache.removeAll()
    for level: UInt8 in 0...2 { #expect(cache.node(Tree.nodeID(level: level, index: 0)) == nil) }
    #expect(cache.digest(of: 0, child: 0) == nil)
  }

  @Test(arguments: [UInt8(1), 2, 3])
  func `has a first tag for each bucket`(depth: UInt8) {
    for number: UInt32 in [0, 1, 5, (1 << (6 * UInt32(depth))) - 1] {
      let tag = Tree.firstTag(ofBucket: number, depth: depth)
      #expect(Tree.bucket(of: tag, depth: depth) == number)
      #expect(tag.bytes.dropFirst(3).allSatisfy { $0 == 0 })
    }
  }

  @Test func `puts a bucket's entries in order`() {
    var leaves: [UInt8] = []
    let tags = [9, 3, 200, 3].map { ItemTag([UInt8](repeating: $0, count: 16).span) }
    for (index, tag) in tags.enumerated() {
      leaves.setLeaf(Digest([UInt8](repeating: UInt8(index), count: 32).span), of: tag)
    }
    let view = BucketLeaves(leaves.span)
    #expect(leaves.count == 3 * 48)
    #expect((0..<3).map { view.tag($0).bytes[0] } == [3, 9, 200])
    #expect((0..<3).map { view.leaf($0).bytes[0] } == [3, 0, 2])
  }
}

@Suite struct `A list` {
  @Test func `of an empty vault is empty`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    #expect(try vault.names() == [])
  }

  @Test func `shows every item once while others are stored`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<300 { try vault.put("a\(number)", "") }
    var listing = vault.listing()
    var seen: [String] = []
    while let item = try listing.next(in: &vault) {
      seen.append(text(of: item.name))
      if seen.count.isMultiple(of: 10) { try vault.put("b\(seen.count)", "") }
    }
    let old = seen.filter { $0.hasPrefix("a") }
    #expect(old.count == 300)
    #expect(Set(seen).count == seen.count)
  }

  @Test func `looks at deleted items some at a time`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<300 { try vault.put("a\(number)", "") }
    for number in 0..<300 { try vault.remove("a\(number)") }
    var listing = vault.listing()
    var (steps, shown) = (0, 0)
    while try listing.advance(in: &vault) {
      if listing.takeItem() != nil { shown += 1 }
      steps += 1
    }
    #expect(shown == 0)
    #expect(steps >= 3)
  }

  @Test func `stops at damage`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    for number in 0..<100 { try vault.put("a\(number)", "") }
    file.attack("DELETE FROM item WHERE tag = (SELECT max(tag) FROM item)")
    #expect(throws: VaultError.damaged(.item)) { try vault.names() }
  }
}
