// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Synchronization
import Testing

@testable import KuraVault

/// What a walk on two threads proves, and what it makes of changes between its steps.
@Suite struct ListingTests {
  /// More than three slices of it, each of some parts.
  private static let count = 1_400
  private static let places = [0, 63, 64, 130, 200, 700, 1_111, 1_399]

  private func filled() throws -> TestVault {
    let file = try TestVault()
    try file.fill { vault in try vault.storeNumbers(Self.count) }
    return file
  }

  private static func row(_ place: Int) -> String {
    "(SELECT tag FROM item ORDER BY tag LIMIT 1 OFFSET \(place))"
  }

  /// How many items a walk shows, or what it fails with.
  private func outcome(
    _ file: TestVault, without skipped: IntegrityChecks = []
  ) throws -> Result<Int, VaultError> {
    var vault = try file.unlock(without: skipped)
    do throws(VaultError) { return .success(try vault.names().count) } catch {
      return .failure(error)
    }
  }

  @Test func `every item is shown once`() throws {
    let file = try filled()
    var vault = try file.unlock()
    #expect(try vault.names() == (0..<Self.count).map { "item-\($0)" }.sorted())
  }

  @Test func `a row that is another's is found wherever it stands`() throws {
    let file = try filled()
    let whole = try file.content()
    for place in Self.places {
      let other = Self.row((place + 1) % Self.count)
      file.attack(
        "UPDATE item SET body = (SELECT body FROM item WHERE tag = \(other)) WHERE tag = "
          + Self.row(place))
      #expect(try outcome(file) == .failure(.damaged(.item)), "\(place)")
      #expect(try outcome(file, without: .leaf) == .success(Self.count), "\(place)")
      try file.restore(whole)
    }
  }

  @Test func `a missing row is missed wherever it stood`() throws {
    let file = try filled()
    let whole = try file.content()
    for place in Self.places {
      file.attack("DELETE FROM item WHERE tag = \(Self.row(place))")
      #expect(try outcome(file) == .failure(.damaged(.item)), "\(place)")
      #expect(try outcome(file, without: .presence) == .success(Self.count - 1), "\(place)")
      try file.restore(whole)
    }
  }

  @Test func `a changed bucket is found wherever it stands`() throws {
    let file = try filled()
    let whole = try file.content()
    for place in [0, 3, 11, 40, 63] {
      file.attack(
        """
        UPDATE bucket SET leaves = CAST(substr(leaves, 1, length(leaves) - 32) || zeroblob(32) \
        AS BLOB) WHERE number = \(place)
        """)
      #expect(try outcome(file) == .failure(.damaged(.bucket)), "\(place)")
      #expect(try outcome(file, without: .bucket) == .failure(.damaged(.item)), "\(place)")
      #expect(try outcome(file, without: [.bucket, .leaf]) == .success(Self.count), "\(place)")
      try file.restore(whole)
    }
  }

  @Test func `a meta that does not open is found wherever it stands`() throws {
    let file = try filled()
    let whole = try file.content()
    for place in Self.places {
      file.attack("UPDATE item SET meta = zeroblob(length(meta)) WHERE tag = \(Self.row(place))")
      #expect(try outcome(file, without: .leaf) == .failure(.damaged(.item)), "\(place)")
      try file.restore(whole)
    }
  }

  @Test func `rows that the tree does not know of are passed over`() throws {
    let file = try filled()
    file.attack(
      """
      INSERT INTO item SELECT CAST(substr(tag, 1, 8) || zeroblob(8) AS BLOB), id, revision, \
      generation, class, kind, history, meta, body FROM item
      """)
    #expect(try outcome(file) == .success(Self.count))
  }
}

// MARK: - Changes

extension ListingTests {
  /// Takes what the first step opened; more was read by then.
  private func first(
    _ listing: inout Listing, _ vault: inout UnlockedVault
  ) throws -> Set<String> {
    var seen: Set<String> = []
    #expect(try listing.advance(in: &vault))
    while let item = listing.takeItem() { seen.insert(text(of: item.name)) }
    #expect((64..<400).contains(seen.count))
    return seen
  }

  private func rest(
    _ listing: inout Listing, _ vault: inout UnlockedVault
  ) throws -> Set<String> {
    var seen: Set<String> = []
    while let item = try listing.next(in: &vault) { seen.insert(text(of: item.name)) }
    return seen
  }

  @Test func `what is removed before it is come to is not shown`() throws {
    let file = try filled()
    var vault = try file.unlock()
    var listing = vault.listing()
    let seen = try first(&listing, &vault)
    let unseen = (0..<Self.count).map { "item-\($0)" }.filter { !seen.contains($0) }
    let removed = Set(unseen.prefix(200))
    for name in removed { try vault.remove(name) }
    #expect(try rest(&listing, &vault) == Set(unseen).subtracting(removed))
  }

  @Test func `a rotation in the middle leaves nothing out`() throws {
    let file = try filled()
    var vault = try file.unlock()
    var listing = vault.listing()
    let seen = try first(&listing, &vault)
    try vault.beginRotation()
    while try vault.rotate() {}
    #expect(vault.keys.ring.generations.count == 1)
    let others = try rest(&listing, &vault)
    #expect(seen.isDisjoint(with: others))
    #expect(seen.union(others).count == Self.count)
  }
}

// MARK: - Written down

extension ListingTests {
  @Test func `items are written in pieces, as many as it is said`() throws {
    let file = try filled()
    var vault = try file.unlock()
    let asked = Mutex(0)
    var listing = vault.listing { item, output throws(VaultError) in
      asked.withLock { $0 += 1 }
      guard item.name[item.name.count - 1] == UInt8(ascii: "7") else { return false }
      do throws(SecureMemoryError) {
        try output.append(item.name)
        try output.append(UInt8(ascii: "\n"))
      } catch { throw .outOfMemory }
      return true
    }
    var lines: [String] = []
    while try listing.advance(in: &vault) {
      while listing.takePiece({ bytes, count in
        let piece = text(of: bytes).split(separator: "\n").map { String($0) }
        #expect(piece.count == count)
        lines += piece
      }) {}
    }
    #expect(asked.withLock { $0 } == Self.count)
    #expect(lines.sorted() == (0..<140).map { "item-\($0 * 10 + 7)" }.sorted())
  }

  @Test func `large items are written in more pieces, and none is left behind`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let text = String(repeating: "x", count: 40_000)
    for number in 0..<60 { try vault.put("large-\(number)", [], .replace, ["note": text]) }
    var listing = vault.listing { item, output throws(VaultError) in
      do throws(SecureMemoryError) { try output.append(item.attributes.bytes) } catch {
        throw .outOfMemory
      }
      return true
    }
    var (count, longest) = (0, 0)
    while try listing.advance(in: &vault) {
      while listing.takePiece({ bytes, items in
        count += items
        longest = max(longest, bytes.count)
      }) {}
    }
    #expect(count == 60)
    #expect(longest < 100_000)
  }
}

extension UnlockedVault {
  fileprivate mutating func storeNumbers(_ count: Int) throws(VaultError) {
    var batch = try beginBatch(replacing: false)
    for number in 0..<count {
      let (name, value) = (Array("item-\(number)".utf8), Array("value \(number)".utf8))
      _ = try add(
        name.span, value: value.span, attributes: Span(), as: BatchManner(), to: &batch)
    }
    while try advance(batch: &batch) {}
  }
}
