// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Lists the kept previous revisions of an item, as its row's history column has them.
public struct HistoryList: Equatable, Sendable {
  /// Ties one kept revision to its leaf.
  public struct Entry: Equatable, Sendable {
    /// The revision's number.
    public let revision: UInt64
    /// The leaf of its row in the history table.
    public let leaf: Digest
  }

  /// The bytes of one entry.
  public static let entryByteCount = 40
  /// How many the format allows; the policy keeps fewer.
  public static let mostEntries = 1024

  /// Ascending by revision.
  public private(set) var entries: [Entry] = []

  /// No history.
  public init() {}

  /// Reads a history column.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    let (count, rest) = bytes.count.quotientAndRemainder(dividingBy: HistoryList.entryByteCount)
    guard rest == 0, count <= HistoryList.mostEntries else { throw .damaged }
    var reader = ByteReader(bytes)
    for _ in 0..<count {
      let entry = Entry(revision: try reader.integer(), leaf: try reader.digest())
      guard entry.revision > (entries.last?.revision ?? 0) else { throw .damaged }
      entries.append(entry)
    }
  }

  /// Whether a history column can be read, and the item came to all that it lists; tells as much as
  /// reading it does, and keeps nothing.
  ///
  /// - Parameter revision: The item's own.
  public static func isSound(_ column: Span<UInt8>, below revision: UInt64) -> Bool {
    let (count, rest) = column.count.quotientAndRemainder(dividingBy: entryByteCount)
    guard rest == 0, count <= mostEntries else { return false }
    var last: UInt64 = 0
    for index in 0..<count {
      var reader = ByteReader(column.extracting(droppingFirst: index * entryByteCount))
      guard let next = try? reader.integer(UInt64.self), next > last else { return false }
      last = next
    }
    return last < revision
  }

  /// Adds the revision that was current until now.
  ///
  /// - Parameters:
  ///   - revision: Higher than every one that is kept.
  ///   - leaf: The leaf of its history row.
  public mutating func append(revision: UInt64, leaf: Digest) {
    precondition(revision > (entries.last?.revision ?? 0), "revisions ascend")
    entries.append(Entry(revision: revision, leaf: leaf))
  }

  /// Gives a kept revision another leaf, after its row was sealed again; others stay as they are.
  public mutating func setLeaf(_ leaf: Digest, of revision: UInt64) {
    guard let index = entries.firstIndex(where: { $0.revision == revision }) else { return }
    entries[index] = Entry(revision: revision, leaf: leaf)
  }

  /// Drops one revision, whose row has to go with it; without it, does nothing.
  public mutating func remove(_ revision: UInt64) {
    entries.removeAll { $0.revision == revision }
  }

  /// Drops the oldest revisions.
  ///
  /// - Parameters:
  ///   - depth: How many to keep; at most ``mostEntries`` are kept in any case.
  ///   - needed: Revisions that stay, however old.
  /// - Returns: What was dropped, whose rows have to go with it.
  public mutating func trim(to depth: Int, sparing needed: Set<UInt64> = []) -> [Entry] {
    let old = entries.dropLast(min(max(depth, 0), HistoryList.mostEntries))
    let spared = old.filter { needed.contains($0.revision) }
    let dropped = old.filter { !needed.contains($0.revision) }
    entries.replaceSubrange(old.indices, with: spared)
    return Array(dropped)
  }

  /// The column's bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entries.count * HistoryList.entryByteCount)
    for entry in entries {
      bytes.append(integer: entry.revision)
      bytes.append(entry.leaf)
    }
    return bytes
  }
}
