// SPDX-License-Identifier: MIT

public import KuraCrypto

/// The length of every identifier, in bytes.
let identifierByteCount = 16

/// Names something by 16 bytes; the subject keeps one kind of name from passing for another.
///
/// They are ordered as their bytes are.
public struct Identifier<Subject>: Sendable {
  /// The first eight bytes, the first of them most significant.
  let high: UInt64
  /// The last eight bytes.
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The bytes of every one.
  public static var byteCount: Int { identifierByteCount }

  /// Sixteen zero bytes.
  public static var zero: Identifier { Identifier(high: 0, low: 0) }

  /// Sixteen bytes of ones, behind which there is no other.
  public static var last: Identifier { Identifier(high: .max, low: .max) }

  /// Copies bytes that stand elsewhere.
  ///
  /// - Parameter bytes: 16 bytes.
  public init(_ bytes: Span<UInt8>) {
    precondition(bytes.count == identifierByteCount, "an identifier has 16 bytes")
    var halves: (UInt64, UInt64) = (0, 0)
    for index in 0..<8 {
      halves.0 = halves.0 << 8 | UInt64(bytes[index])
      halves.1 = halves.1 << 8 | UInt64(bytes[index + 8])
    }
    self.init(high: halves.0, low: halves.1)
  }

  /// A fresh one from the kernel's random source.
  ///
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public static func random() throws(CryptoError) -> Identifier {
    let bytes = try RandomBytes.bytes(identifierByteCount)
    return Identifier(bytes.span)
  }

  /// A fresh one from random bytes that were drawn before.
  ///
  /// - Throws: ``CryptoError/entropyUnavailable``.
  public static func random(
    from supply: inout RandomSupply
  ) throws(CryptoError) -> Identifier {
    var bytes = InlineArray<16, UInt8>(repeating: 0)
    var target = bytes.mutableSpan
    try supply.fill(&target)
    return Identifier(bytes.span)
  }

  /// The 16 bytes, copied.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(identifierByteCount)
    bytes.append(self)
    return bytes
  }

  /// Reads what ``hexadecimal`` writes; nil for anything else.
  public init?(hexadecimal text: some StringProtocol) {
    let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    guard isPlain, text.utf8.count == 2 * identifierByteCount,
      let high = UInt64(text.prefix(identifierByteCount), radix: 16),
      let low = UInt64(text.suffix(identifierByteCount), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// The 16 bytes as 32 lower-case hexadecimal digits, for file names and messages.
  public var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  /// The first `count` bits as a number, the first bit most significant.
  ///
  /// - Parameter count: 0 to 32.
  public func leadingBits(_ count: Int) -> UInt32 {
    precondition((0...32).contains(count), "at most 32 bits")
    return count == 0 ? 0 : UInt32(high >> UInt64(64 - count))
  }
}

// MARK: - Hashable, Comparable

extension Identifier: Hashable, Comparable {
  /// Compares all 128 bits; an id is no secret.
  public static func == (left: Identifier, right: Identifier) -> Bool {
    left.high == right.high && left.low == right.low
  }

  /// Hashes all 128 bits.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }

  /// Orders ids as their bytes are ordered.
  public static func < (left: Identifier, right: Identifier) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

// MARK: - Subjects

/// Marks an identifier as a vault's.
public enum VaultSubject: Sendable {}
/// Marks an identifier as a key slot's.
public enum SlotSubject: Sendable {}
/// Marks 16 bytes as the salt of a key slot.
public enum SaltSubject: Sendable {}
/// Marks an identifier as an item's, for life.
public enum ItemSubject: Sendable {}
/// Marks 16 bytes as the tag that stands for an item's name.
public enum TagSubject: Sendable {}
/// Marks an identifier as that of a large value's chunks.
public enum ValueSubject: Sendable {}
/// Marks an identifier as that of an engine that writes.
public enum WriterSubject: Sendable {}
/// Marks an identifier as a revision's, in whatever copy of the vault it stands.
public enum RevisionSubject: Sendable {}
/// Marks an identifier as that of one copy of a vault.
public enum DeviceSubject: Sendable {}

/// A vault, for as long as it exists; public.
public typealias VaultID = Identifier<VaultSubject>
/// A key slot; public.
public typealias SlotID = Identifier<SlotSubject>
/// A slot's salt; public.
public typealias Salt = Identifier<SaltSubject>
/// An item, for life, through every change of its name; public.
public typealias ItemID = Identifier<ItemSubject>
/// The keyed hash of an item's name, by which its row is found; public.
public typealias ItemTag = Identifier<TagSubject>
/// A value that is stored in chunks; public.
public typealias ValueID = Identifier<ValueSubject>
/// A process that wrote the vault.
public typealias WriterID = Identifier<WriterSubject>
/// A revision of an item, in whatever copy of the vault it stands; sealed wherever it is stored.
public typealias RevisionID = Identifier<RevisionSubject>
/// One copy of a vault, for as long as nobody copies it.
public typealias DeviceID = Identifier<DeviceSubject>
