// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct TimeSpanTests {
  static let readable: [(String, UInt64)] = [
    ("15m", 900_000), ("8h", 28_800_000), ("3s", 3_000), ("1h30m", 5_400_000),
    ("2d", 172_800_000), ("1d12h5m7s", 129_907_000), ("250ms", 250), ("90m", 5_400_000),
    ("0s", 0),
  ]

  @Test(arguments: readable)
  func `a duration is a number with its unit, or several`(_ row: (String, UInt64)) {
    #expect(TimeSpan(Array(row.0.utf8))?.milliseconds == row.1)
  }

  @Test(arguments: [
    "", "15", "m", "15 m", "15min", "-1h", "+1h", "1m1h", "1h1h", "1.5h", "soon", "1H",
    "99999999999999999999s", "18446744073709551615d",
  ])
  func `anything else is none`(_ text: String) {
    #expect(TimeSpan(Array(text.utf8)) == nil)
  }

  @Test(arguments: [0, 1, 250, 3_000, 900_000, 5_400_000, 86_400_001, 129_907_000])
  func `the text reads back`(_ milliseconds: UInt64) {
    let span = TimeSpan(milliseconds: milliseconds)
    #expect(TimeSpan(Array(span.text.utf8)) == span)
  }

  @Test func `people read words, at most two units`() {
    #expect(TimeSpan(milliseconds: 900_000).words == "15 min")
    #expect(TimeSpan(milliseconds: 5_400_000).words == "1 h 30 min")
    #expect(TimeSpan(milliseconds: 3_000).words == "3 s")
    #expect(TimeSpan(milliseconds: 90_061_000).words == "1 d 1 h")
    #expect(TimeSpan(milliseconds: 0).words == "0 s")
  }
}

@Suite struct ByteSizeTests {
  @Test(
    arguments: [
      ("256MiB", 268_435_456), ("1GiB", 1_073_741_824), ("64KiB", 65_536), ("17", 17), ("17B", 17),
    ] as [(String, UInt64)])
  func `a size is a number of bytes or of their powers of 1,024`(_ row: (String, UInt64)) {
    #expect(ByteSize(Array(row.0.utf8))?.count == row.1)
  }

  @Test(arguments: ["", "lots", "256MB", "256M", "MiB", "-1", "1.5GiB", "17179869184GiB"])
  func `anything else is none`(_ text: String) {
    #expect(ByteSize(Array(text.utf8)) == nil)
  }

  @Test func `people read a tenth`() {
    #expect(ByteSize(count: 16).words == "16 B")
    #expect(ByteSize(count: 1_023).words == "1023 B")
    #expect(ByteSize(count: 1_024).words == "1.0 KiB")
    #expect(ByteSize(count: 5_242_880).words == "5.0 MiB")
    #expect(ByteSize(count: 5_190_451).words == "4.9 MiB")
    #expect(ByteSize(count: .max).words == "17179869183.9 GiB")
  }
}
