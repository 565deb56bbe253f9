// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Carries the nonce of one seal: random bytes that no other seal gets, since a seal consumes it.
public struct Nonce: ~Copyable, Sendable {
  var bytes = InlineArray<24, UInt8>(repeating: 0)

  fileprivate init() {}

  /// A fresh one from the kernel's random source.
  ///
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public static func random() throws(CryptoError) -> Nonce {
    var nonce = Nonce()
    var target = nonce.bytes.mutableSpan
    try RandomBytes.fill(&target)
    return nonce
  }
}

/// Hands out random bytes for the seals and ids of one piece of work, drawn from the kernel together: to ask it
/// for each costs a third of a seal.
///
/// Each byte is given out once and overwritten; what is left over goes with the supply. It is kept no
/// longer than a call: a copy of the process, or of the machine, would give out the same bytes.
public struct RandomSupply: ~Copyable {
  private(set) var bytes: SecretBytes
  private var given = 0

  /// How many bytes a nonce takes.
  public static let nonceByteCount = Seal.nonceCount

  /// Asks the kernel.
  ///
  /// - Parameter byteCount: What is needed in all; what goes beyond is asked for one by one.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(byteCount: Int) throws(CryptoError) {
    bytes = try RandomSupply.drawn(byteCount)
  }

  private static func drawn(_ count: Int) throws(CryptoError) -> SecretBytes {
    var bytes = try SecretBytes.make(count: count)
    var target = bytes.mutableBytes
    try RandomBytes.fill(&target)
    return bytes
  }

  /// The next nonce.
  ///
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public mutating func nonce() throws(CryptoError) -> Nonce {
    var nonce = Nonce()
    var target = nonce.bytes.mutableSpan
    try fill(&target)
    return nonce
  }

  /// Fills a view with the next bytes.
  ///
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public mutating func fill(_ target: inout MutableSpan<UInt8>) throws(CryptoError) {
    guard target.count <= bytes.count - given else { return try RandomBytes.fill(&target) }
    let start = given
    given += target.count
    var source = bytes.mutableBytes
    for index in target.indices {
      target[index] = source[start + index]
      source[start + index] = 0
    }
  }
}
