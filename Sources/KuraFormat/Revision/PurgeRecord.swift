// SPDX-License-Identifier: MIT

public import SecureMemory

/// Remembers what was purged of an item, so that no other copy of the vault brings it back: the body of what a
/// purged item leaves.
public struct PurgeRecord: Equatable, Sendable {
  /// Holds a revision that purged the item too, and was neither followed nor followed the row's.
  public struct Side: Equatable, Sendable {
    /// The class that the item had.
    public let protection: ProtectionClass
    /// Who it is, and what it knew of.
    public let lineage: Lineage

    /// A revision that purged an item.
    public init(_ lineage: Lineage, protection: ProtectionClass) {
      self.lineage = lineage
      self.protection = protection
    }
  }

  /// The most revisions beside the row's: as many as their count can say.
  public static let mostSides = 255

  private static let form: UInt8 = 7

  /// All that was purged.
  public let covered: RevisionVector
  /// Ascending by their ids.
  public let sides: [Side]

  /// - Parameters:
  ///   - covered: All that was purged; not empty.
  ///   - sides: At most ``mostSides``, in any order, none twice.
  public init(covering covered: RevisionVector, sides: [Side] = []) {
    precondition(!covered.entries.isEmpty, "nothing was purged")
    precondition(sides.count <= PurgeRecord.mostSides, "sides were counted")
    self.covered = covered
    self.sides = sides.sorted { $0.lineage.stamp.id < $1.lineage.stamp.id }
  }

  /// Reads an opened body of a purged item.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(plaintext)
    guard try reader.integer(UInt8.self) == PurgeRecord.form else { throw .damaged }
    covered = try RevisionVector(&reader)
    let count = Int(try reader.integer(UInt8.self))
    guard !covered.entries.isEmpty else { throw .damaged }
    var sides: [Side] = []
    for _ in 0..<count {
      guard let protection = ProtectionClass(rawValue: try reader.integer()) else { throw .damaged }
      let side = Side(try Lineage(&reader), protection: protection)
      if let last = sides.last, last.lineage.stamp.id >= side.lineage.stamp.id { throw .damaged }
      sides.append(side)
    }
    self.sides = sides
    try reader.finish()
  }

  /// The bytes to seal.
  ///
  /// - Throws: ``FormatError/tooManySides`` where a row has no room for them, ``FormatError/outOfMemory``.
  public func encode() throws(FormatError) -> SecretBytes {
    var bytes = [PurgeRecord.form]
    covered.append(to: &bytes)
    bytes.append(UInt8(sides.count))
    for side in sides {
      bytes.append(side.protection.rawValue)
      side.lineage.append(to: &bytes)
    }
    guard bytes.count <= BodyParts.longest else { throw .tooManySides }
    return try .duplicate(bytes.span)
  }
}
