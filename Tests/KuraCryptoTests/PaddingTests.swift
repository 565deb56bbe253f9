// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCrypto

@Suite struct PaddingTests {
  @Test(arguments: [
    (1, 256), (255, 256), (256, 256), (257, 512), (4095, 4096), (4096, 4096), (4097, 4352),
    (8192, 8192), (8193, 8704), (65_537, 67_584), (65_538, 67_584), (1 << 20, 1 << 20),
    ((1 << 20) + 1, (1 << 20) + (1 << 15)),
  ])
  func `a length is rounded up as the format says`(count: Int, padded: Int) {
    #expect(Padding.paddedCount(count) == padded)
  }

  @Test func `rounding never shortens, never adds more than an eighth, and ends`() {
    var last = 0
    for count in 1...200_000 {
      let padded = Padding.paddedCount(count)
      guard padded >= count, padded >= last, Padding.paddedCount(padded) == padded,
        count <= 4096 || padded - count <= count / 8
      else {
        Issue.record("\(count) → \(padded)")
        return
      }
      last = padded
    }
  }
}
