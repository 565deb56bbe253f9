// SPDX-License-Identifier: MIT

/// Writes a hash as words that can be read out and compared: the proquints of D. S. Wilkerson, "A Proposal for
/// Proquints", 2009, 16 bits each.
public enum HeadWords {
  /// How many words there are.
  public static let count = 5

  private static let consonants = Array("bdfghjklmnprstvz".utf8)
  private static let vowels = Array("aiou".utf8)

  /// The words for a hash of at least ten bytes; empty for fewer.
  public static func text(_ hash: [UInt8]) -> String {
    guard hash.count >= 2 * count else { return "" }
    var text: [UInt8] = []
    for word in 0..<count {
      if word > 0 { text.append(0x20) }
      let bits = Int(hash[2 * word]) << 8 | Int(hash[2 * word + 1])
      text.append(consonants[bits >> 12])
      text.append(vowels[bits >> 10 & 3])
      text.append(consonants[bits >> 6 & 15])
      text.append(vowels[bits >> 4 & 3])
      text.append(consonants[bits & 15])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
