// SPDX-License-Identifier: MIT

/// Makes inputs from others, the same ones in each run: what is taken is kept and changed further, so
/// that they come deep into a reader.
struct Mutation {
  private static let longest = 1 << 16
  private static let mostKept = 256

  private let words: [[UInt8]]
  private var kept: [[UInt8]]
  private var state: UInt64

  init(of target: FuzzTarget, seed: UInt64) {
    words = target.words
    kept = target.seeds
    state = seed
  }

  /// Another input.
  mutating func next() -> [UInt8] {
    guard var bytes = kept.isEmpty ? nil : kept[below(kept.count)] else { return noise() }
    for _ in 0...below(4) { change(&bytes) }
    return bytes.count > Self.longest ? Array(bytes[..<Self.longest]) : bytes
  }

  /// Notes that an input was taken.
  mutating func keep(_ bytes: [UInt8]) {
    if kept.count < Self.mostKept {
      kept.append(bytes)
    } else if below(8) == 0 {
      kept[below(kept.count)] = bytes
    }
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = below(bytes.count + 1)
    switch below(10) {
    case 0 where !bytes.isEmpty: bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
    case 1 where !bytes.isEmpty: bytes[below(bytes.count)] = UInt8(below(256))
    case 2 where !bytes.isEmpty:
      bytes[below(bytes.count)] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][below(6)]
    case 3: bytes.insert(UInt8(below(256)), at: place)
    case 4: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(16)))
    case 5: bytes.removeSubrange(place...)
    case 6 where !words.isEmpty: bytes.insert(contentsOf: words[below(words.count)], at: place)
    case 7 where !bytes.isEmpty:
      let start = below(bytes.count)
      bytes.insert(contentsOf: bytes[start..<min(bytes.count, start + 1 + below(32))], at: place)
    case 8:
      let other = kept[below(kept.count)]
      bytes = Array(bytes[..<place]) + other[below(other.count + 1)...]
    default:
      guard bytes.count >= 2 else { return bytes.append(0xFF) }
      // A count or a length, one more or less.
      let index = below(bytes.count)
      bytes[index] = below(2) == 0 ? bytes[index] &+ 1 : bytes[index] &- 1
    }
  }

  private mutating func noise() -> [UInt8] { (0..<below(64)).map { _ in UInt8(below(256)) } }

  /// SplitMix64.
  private mutating func below(_ limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
  }
}
