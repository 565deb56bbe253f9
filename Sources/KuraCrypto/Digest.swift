// SPDX-License-Identifier: MIT

/// Holds the result of a keyed hash that need not be secret: up to 32 bytes.
public struct Digest: Sendable {
  /// The length of a full digest, in bytes.
  public static let byteCount = 32

  private var storage: InlineArray<32, UInt8>

  /// The length in bytes, 1 to 32.
  public let count: Int

  /// 32 zero bytes, which stand for an empty bucket, node or history.
  public static let zero = Digest(count: byteCount)

  init(count: Int) {
    precondition((1...Digest.byteCount).contains(count), "a digest has 1 to 32 bytes")
    storage = InlineArray(repeating: 0)
    self.count = count
  }

  /// Copies bytes that stand elsewhere.
  ///
  /// - Parameter bytes: 1 to 32 bytes.
  public init(_ bytes: Span<UInt8>) {
    self.init(count: bytes.count)
    for index in bytes.indices { storage[index] = bytes[index] }
  }

  /// The digest's bytes, to read.
  public var span: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { storage.span.extracting(first: count) }
  }

  /// The digest's bytes, copied.
  public var bytes: [UInt8] { (0..<count).map { storage[$0] } }

  /// The digest's bytes, to fill in.
  var mutableSpan: MutableSpan<UInt8> {
    @_lifetime(&self) mutating get { storage.mutableSpan }
  }

  /// Whether the digest has exactly these bytes, in time that depends on their number only.
  public func isEqual(to other: Span<UInt8>) -> Bool { Sodium.isEqual(span, other) }
}

// MARK: - Hashable

extension Digest: Hashable {
  /// Compares in time that depends on the lengths only.
  public static func == (left: Digest, right: Digest) -> Bool { left.isEqual(to: right.span) }

  /// Hashes all bytes: a digest is no secret.
  public func hash(into hasher: inout Hasher) {
    for index in 0..<count { hasher.combine(storage[index]) }
  }
}
