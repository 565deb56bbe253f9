// SPDX-License-Identifier: MIT

/// Tells a revision from all others, and which of two is the later one where neither followed the other.
public struct RevisionStamp: Hashable, Sendable {
  /// How deep a revision can stand: each is one deeper than the deepest that it follows.
  public static let depths: ClosedRange<UInt64> = 1...(1 << 40)

  /// The revision's id.
  public let id: RevisionID
  /// 1 + that of the deepest revision that it follows.
  public let depth: UInt64
  /// Where it was made.
  public let entry: RevisionEntry

  /// - Parameters:
  ///   - id: The revision's id.
  ///   - depth: One of ``depths``.
  ///   - entry: Where it was made.
  public init(id: RevisionID, depth: UInt64, entry: RevisionEntry) {
    precondition(RevisionStamp.depths.contains(depth), "a depth was counted")
    self.id = id
    self.depth = depth
    self.entry = entry
  }
}

extension RevisionStamp: Comparable {
  /// Orders by depth, then by id; by no clock.
  public static func < (left: RevisionStamp, right: RevisionStamp) -> Bool {
    (left.depth, left.id) < (right.depth, right.id)
  }
}

/// Says of a revision who it is and what it follows.
public struct Lineage: Hashable, Sendable {
  /// Who it is.
  public let stamp: RevisionStamp
  /// What it knows of; its own entry is in it.
  public let vector: RevisionVector

  /// - Parameters:
  ///   - stamp: Who it is.
  ///   - known: What it follows; its own entry is added.
  public init(stamp: RevisionStamp, following known: RevisionVector = RevisionVector()) {
    self.stamp = stamp
    var vector = known
    vector.include(stamp.entry)
    self.vector = vector
  }

  /// The revision that a change makes, which follows every side that there is.
  ///
  /// - Parameters:
  ///   - id: A fresh one.
  ///   - entry: The next change of this copy.
  ///   - sides: None for what never was.
  ///   - purged: What was purged of it.
  /// - Throws: ``FormatError/damaged`` when no depth is left, ``FormatError/tooManySides`` where it
  ///   would know of too many copies.
  public init(
    _ id: RevisionID, at entry: RevisionEntry, after sides: [Lineage],
    purged: RevisionVector = RevisionVector()
  ) throws(FormatError) {
    var known = purged
    var depth: UInt64 = 0
    for side in sides {
      known.formUnion(side.vector)
      depth = max(depth, side.stamp.depth)
    }
    guard depth < RevisionStamp.depths.upperBound else { throw .damaged }
    self.init(stamp: RevisionStamp(id: id, depth: depth + 1, entry: entry), following: known)
    guard !vector.isTooLong else { throw .tooManySides }
  }

  /// Whether the other revision is known to this one, and so is no side beside it.
  public func follows(_ other: Lineage) -> Bool {
    stamp.id != other.stamp.id && stamp.entry != other.stamp.entry
      && vector.covers(other.stamp.entry)
  }
}

// MARK: - Encoding

extension Lineage {
  /// Reads `revision id ‖ u64 depth ‖ vector ‖ u16 index of the own entry`.
  ///
  /// - Throws: ``FormatError/damaged``.
  init(_ reader: inout ByteReader) throws(FormatError) {
    let id: RevisionID = try reader.identifier()
    let depth = try reader.integer(UInt64.self)
    guard RevisionStamp.depths.contains(depth) else { throw .damaged }
    let vector = try RevisionVector(&reader)
    let own = Int(try reader.integer(UInt16.self))
    guard own < vector.entries.count else { throw .damaged }
    stamp = RevisionStamp(id: id, depth: depth, entry: vector.entries[own])
    self.vector = vector
  }

  /// Appends the encoded lineage; no secret where that of the vault is none.
  func append(to bytes: inout [UInt8]) {
    bytes.append(stamp.id)
    bytes.append(integer: stamp.depth)
    vector.append(to: &bytes)
    bytes.append(integer: UInt16(vector.place(of: stamp.entry.device)))
  }
}
