// SPDX-License-Identifier: MIT

/// Says in which objects of a store a long value stands, or stands so far.
public struct ValuePlace: Equatable, Sendable {
  /// The most objects that are remembered of a value.
  public static let mostPieces = 24_576
  /// The most chunks of a value.
  private static let mostChunks: UInt64 = 1 << 24

  /// How many chunks the value has.
  public let chunkCount: UInt64
  /// Its objects.
  public let value: PackedValue

  /// A place.
  ///
  /// - Throws: ``FormatError/valueTooLarge`` for more than is remembered.
  public init(_ value: PackedValue, chunkCount: UInt64) throws(FormatError) {
    (self.value, self.chunkCount) = (value, chunkCount)
    guard isPossible else { throw .valueTooLarge }
  }

  private var isPossible: Bool {
    let count = UInt64(value.pieces.count)
    return (1...ValuePlace.mostChunks).contains(chunkCount) && count <= chunkCount
      && count <= ValuePlace.mostPieces
  }

  /// Whether all of the value is there; else it is being written.
  public var isWhole: Bool {
    UInt64(value.pieces.count) * UInt64(PieceView.mostChunks) >= chunkCount
  }

  /// Reads an opened row.
  ///
  /// - Parameter id: The value that it is of.
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>, of id: ValueID) throws(FormatError) {
    var reader = ByteReader(plaintext)
    chunkCount = try reader.integer()
    value = try PackedValue(of: id, &reader)
    try reader.finish()
    guard isPossible else { throw .damaged }
  }

  /// The bytes to seal.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: chunkCount)
    value.appendPlace(to: &bytes)
    return bytes
  }
}
