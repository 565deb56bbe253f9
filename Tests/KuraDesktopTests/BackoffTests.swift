// SPDX-License-Identifier: MIT

import Testing

@testable import KuraDesktop

@Suite struct BackoffTests {
  @Test
  func `a bus that stays away is tried more and more seldom, and never seldomer than every 30 s`() {
    var backoff = Backoff()
    #expect((0..<8).map { _ in backoff.next() } == [1, 2, 4, 8, 16, 30, 30, 30].map { $0 * 1_000 })
  }

  @Test func `one that was there is soon tried again`() {
    var backoff = Backoff()
    _ = backoff.next()
    _ = backoff.next()
    backoff.reset()
    #expect(backoff.next() == 1_000)
  }
}
