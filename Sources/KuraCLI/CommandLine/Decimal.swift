// SPDX-License-Identifier: MIT

/// Reads decimal numbers as people type them: digits, and nothing else.
enum Decimal {
  /// The number, or nil where there is none, or one too large.
  static func parse(_ text: ArraySlice<UInt8>) -> UInt64? {
    guard !text.isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in text {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isOver) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      guard !isTooLarge, !isOver else { return nil }
      value = sum
    }
    return value
  }
}
