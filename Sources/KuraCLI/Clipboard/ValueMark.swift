// SPDX-License-Identifier: MIT

internal import KuraClient

/// Tells whether bytes are the same as others that are not kept: SipHash-2-4 of 128 bits under a key
/// by chance, of bytes that come in parts.
struct ValueMark {
  /// Stands for the bytes in what is kept.
  struct Tag: Equatable {
    let low: UInt64
    let high: UInt64
  }

  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  /// Bytes that do not fill a word yet.
  private var word: UInt64 = 0
  private var count: UInt64 = 0

  /// Begins under a key of 16 bytes, as two numbers.
  init(low: UInt64, high: UInt64) {
    v0 = low ^ 0x736f_6d65_7073_6575
    v1 = high ^ 0x646f_7261_6e64_6f6d ^ 0xEE
    v2 = low ^ 0x6c79_6765_6e65_7261
    v3 = high ^ 0x7465_6462_7974_6573
  }

  /// Begins under a new key.
  init() throws(CommandError) {
    let (low, high) = try Self.key()
    self.init(low: low, high: high)
  }

  /// A new key, by chance.
  static func key() throws(CommandError) -> (low: UInt64, high: UInt64) {
    var key = [16 of UInt8](repeating: 0)
    var room = key.mutableSpan
    let failed = System.random(into: &room)
    guard failed == 0 else { throw .client(.system(-failed)) }
    let number = { (start: Int) in
      (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(key[start + $1]) }
    }
    return (number(0), number(8))
  }
}

extension ValueMark {
  /// Takes the next bytes.
  mutating func take(_ bytes: Span<UInt8>) {
    for index in bytes.indices {
      word |= UInt64(bytes[index]) << (8 * (count & 7))
      count &+= 1
      if count & 7 == 0 { takeWord() }
    }
  }

  private mutating func takeWord() {
    v3 ^= word
    round()
    round()
    v0 ^= word
    word = 0
  }

  /// The tag of all that was taken.
  func tag() -> Tag {
    var end = self
    end.word |= end.count << 56
    end.takeWord()
    end.v2 ^= 0xEE
    for _ in 0..<4 { end.round() }
    let low = end.v0 ^ end.v1 ^ end.v2 ^ end.v3
    end.v1 ^= 0xDD
    for _ in 0..<4 { end.round() }
    return Tag(low: low, high: end.v0 ^ end.v1 ^ end.v2 ^ end.v3)
  }

  private mutating func round() {
    v0 &+= v1
    v2 &+= v3
    v1 = Self.rotate(v1, 13) ^ v0
    v3 = Self.rotate(v3, 16) ^ v2
    v0 = Self.rotate(v0, 32)
    v2 &+= v1
    v0 &+= v3
    v1 = Self.rotate(v1, 17) ^ v2
    v3 = Self.rotate(v3, 21) ^ v0
    v2 = Self.rotate(v2, 32)
  }

  private static func rotate(_ number: UInt64, _ by: UInt64) -> UInt64 {
    number << by | number >> (64 - by)
  }
}
