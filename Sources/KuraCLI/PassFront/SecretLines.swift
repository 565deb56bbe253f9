// SPDX-License-Identifier: MIT

/// Finds the lines of a secret text.
enum SecretLines {
  /// Where a line stands, from 1, without its end; nil: there are not so many.
  static func range(of number: Int, in text: Span<UInt8>) -> Range<Int>? {
    var start = 0
    var line = 1
    for index in text.indices where text[index] == UInt8(ascii: "\n") {
      if line == number { return start..<index }
      line += 1
      start = index + 1
    }
    return line == number && start < text.count ? start..<text.count : nil
  }
}
