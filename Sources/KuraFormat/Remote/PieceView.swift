// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Reads an opened piece in place: some chunks of a long value, each sealed with the value's key.
public struct PieceView: ~Escapable {
  /// The most chunks in one.
  public static let mostChunks = 16

  private let bytes: Span<UInt8>
  private let chunks: [Range<Int>]

  /// Reads an opened piece.
  ///
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    let count = Int(try reader.integer(UInt8.self))
    guard (1...PieceView.mostChunks).contains(count) else { throw .damaged }
    var chunks: [Range<Int>] = []
    for _ in 0..<count {
      let length = Int(try reader.integer(UInt32.self))
      guard PieceView.lengths.contains(length) else { throw .damaged }
      let start = reader.offset
      _ = try reader.take(length)
      chunks.append(start..<(start + length))
    }
    try reader.finish()
    self.bytes = bytes
    self.chunks = chunks
  }

  /// The bytes of one sealed chunk.
  private static let lengths = (Seal.overhead + 1)...(Seal.overhead + Manifest.chunkByteCount)

  /// How many chunks there are.
  public var count: Int { chunks.count }

  /// One chunk as it stands in a vault.
  ///
  /// - Parameter index: From 0, below ``count``.
  @_lifetime(copy self)
  public func chunk(_ index: Int) -> Span<UInt8> { bytes.extracting(chunks[index]) }

  /// The bytes to seal once more.
  ///
  /// - Parameter chunks: 1 to ``mostChunks`` in turn, as they stand in a vault.
  public static func encode(_ chunks: [[UInt8]]) -> [UInt8] {
    precondition((1...mostChunks).contains(chunks.count), "chunks were counted")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 + chunks.reduce(0) { $0 + 4 + $1.count })
    bytes.append(UInt8(chunks.count))
    for chunk in chunks {
      precondition(lengths.contains(chunk.count), "a chunk has a length")
      bytes.append(integer: UInt32(chunk.count))
      bytes.append(contentsOf: chunk)
    }
    return bytes
  }
}
