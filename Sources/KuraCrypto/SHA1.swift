// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Hashes by SHA-1 (FIPS 180-4 §6.1) for the HMAC of one-time codes and nothing else: a collision of SHA-1 says
/// nothing about its HMAC (RFC 6194 §3.3).
///
/// All that depends on the key stands in guarded memory.
enum SHA1 {
  static let byteCount = 20
  static let blockByteCount = 64

  private static let roundCount = 80
  private static let start: [UInt32] = [
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0,
  ]

  /// The hash of two parts, one behind the other.
  static func hash(
    _ first: Span<UInt8>, _ second: Span<UInt8> = Span()
  ) throws(CryptoError) -> SecretBytes {
    let message = try padded(first, second)
    // Five words of state, then the message schedule.
    var memory = try SecretBytes.make(count: 4 * (5 + roundCount))
    var result = try SecretBytes.make(count: byteCount)
    let bytes = message.bytes
    unsafe memory.withUnsafeMutableBytes { memory in
      guard let base = memory.baseAddress else { return }
      let words = unsafe base.assumingMemoryBound(to: UInt32.self)
      for index in 0..<5 { unsafe words[index] = start[index] }
      for block in stride(from: 0, to: bytes.count, by: blockByteCount) {
        unsafe fill(words + 5, from: bytes.extracting(block..<(block + blockByteCount)))
        unsafe compress(words, schedule: words + 5)
      }
      for index in 0..<byteCount {
        let shift = UInt32(24 - 8 * (index % 4))
        let one: InlineArray<1, UInt8> = unsafe [
          UInt8(truncatingIfNeeded: words[index / 4] >> shift)
        ]
        result.overwrite(at: index, with: one.span)
      }
    }
    return result
  }

  /// The message, a one bit, zeros, and its length in bits: whole blocks.
  private static func padded(
    _ first: Span<UInt8>, _ second: Span<UInt8>
  ) throws(CryptoError) -> SecretBytes {
    let count = first.count + second.count
    let total = (count + 9 + blockByteCount - 1) / blockByteCount * blockByteCount
    var message = try SecretBytes.make(count: total)
    message.overwrite(at: 0, with: first)
    message.overwrite(at: first.count, with: second)
    var bytes = message.mutableBytes
    bytes[count] = 0x80
    for index in 0..<8 {
      bytes[total - 1 - index] = UInt8(truncatingIfNeeded: (8 * count) >> (8 * index))
    }
    return message
  }
}

// MARK: - One block

extension SHA1 {
  private static func fill(_ schedule: UnsafeMutablePointer<UInt32>, from block: Span<UInt8>) {
    for index in 0..<16 {
      var word: UInt32 = 0
      for offset in 0..<4 { word = word << 8 | UInt32(block[4 * index + offset]) }
      unsafe schedule[index] = word
    }
    for index in 16..<roundCount {
      let word = unsafe (schedule[index - 3] ^ schedule[index - 8]) as UInt32
      let other = unsafe (schedule[index - 14] ^ schedule[index - 16]) as UInt32
      unsafe schedule[index] = (word ^ other).rotatedLeft(1)
    }
  }

  private static func compress(
    _ state: UnsafeMutablePointer<UInt32>, schedule: UnsafeMutablePointer<UInt32>
  ) {
    var (a, b, c) = unsafe (state[0], state[1], state[2])
    var (d, e) = unsafe (state[3], state[4])
    for round in 0..<roundCount {
      let mixed = mix(b, c, d, round)
      let next = unsafe a.rotatedLeft(5) &+ mixed.value &+ e &+ mixed.constant &+ schedule[round]
      (e, d, c, b, a) = (d, c, b.rotatedLeft(30), a, next)
    }
    unsafe state[0] &+= a
    unsafe state[1] &+= b
    unsafe state[2] &+= c
    unsafe state[3] &+= d
    unsafe state[4] &+= e
  }

  private static func mix(
    _ b: UInt32, _ c: UInt32, _ d: UInt32, _ round: Int
  ) -> (value: UInt32, constant: UInt32) {
    switch round {
    case 0..<20: (b & c | ~b & d, 0x5A82_7999)
    case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
    case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
    default: (b ^ c ^ d, 0xCA62_C1D6)
    }
  }
}

extension UInt32 {
  fileprivate func rotatedLeft(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}
