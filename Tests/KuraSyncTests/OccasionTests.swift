// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraSync

@Suite struct `When a store is met` {
  private var occasion = Occasion()

  private func report(
    sent: UInt64 = 0, came: UInt64 = 0, waiting: UInt64 = 0, _ notices: SyncNotice...
  ) -> SyncReply {
    var report = SyncReply()
    (report.sent, report.came.added, report.waiting) = (sent, came, waiting)
    report.news = notices.map { SyncNews($0, of: Sample.device) }
    return report
  }

  @Test mutating func `it is when something changes here or there, and now and then`() {
    #expect(occasion.wait([], 0, now: 5) == 0)
    occasion.met([1], 0, report(came: 1), now: 1_000)
    #expect(occasion.wait([1], 0, now: 1_000) == Occasion.often)
    #expect(occasion.wait([1], 0, now: 1_000 + Occasion.often) == 0)
    #expect(occasion.wait([2], 0, now: 1_000) == 0)
    #expect(occasion.wait([1], 1, now: 1_000) == 0)
  }

  @Test mutating func `what is stored during a meeting goes out`() {
    occasion.met([1], 1, report(sent: 1), now: 1_000)
    #expect(occasion.wait([1], 1, now: 1_000) == 0)
    // Nothing had waited, and something came.
    occasion.met([1], 0, report(came: 1), now: 2_000)
    #expect(occasion.wait([1], 1, now: 2_000) == 0)
  }

  @Test mutating func `what may not go out is not tried again until there is more`() {
    occasion.met([1], 2, report(waiting: 2, .passcodeWanted), now: 1_000)
    #expect(occasion.wait([1], 2, now: 1_000) == Occasion.often)
    #expect(occasion.wait([1], 3, now: 1_000) == Occasion.change)
    #expect(occasion.wait([1], 3, now: 1_000 + Occasion.change) == 0)
    // It went out otherwise.
    #expect(occasion.wait([1], 0, now: 1_000) == Occasion.often)
    #expect(occasion.wait([1], 1, now: 9_000) == 0)
  }

  @Test mutating func `what is not all there is looked for again, less and less often`() {
    var now: UInt64 = 1_000_000
    occasion.met([1], 0, report(.late), now: now)
    for pause in [2, 4, 8, 16, 32, 60, 60] as [UInt64] {
      #expect(occasion.wait([1], 0, now: now) == pause * 1_000)
      now += pause * 1_000
      #expect(occasion.wait([1], 0, now: now) == 0)
      occasion.met([1], 0, report(.late), now: now)
    }
    // It is there.
    occasion.met([1], 0, report(came: 1), now: now)
    #expect(occasion.wait([1], 0, now: now) == Occasion.often)
    // Long after it begins anew.
    occasion.met([1], 0, report(.late), now: now)
    occasion.met([1], 0, report(.late), now: now + 99_000)
    #expect(occasion.wait([1], 0, now: now + 99_000) == Occasion.firstPause)
  }

  @Test mutating func `what others write is taken at once, whoever is not all there`() {
    var now: UInt64 = 1_000_000
    for _ in 0..<6 {
      occasion.met([1], 0, report(.late), now: now)
      now += occasion.wait([1], 0, now: now)
    }
    #expect(occasion.wait([2], 0, now: now) == 0)
    occasion.met([1], 0, report(.late), now: now)
    #expect(occasion.wait([1], 0, now: now) == Occasion.lastPause)
    #expect(occasion.wait([2], 0, now: now) == 0)
    #expect(occasion.wait([1], 1, now: now) == Occasion.change)
  }

  @Test mutating func `a store that looks other each time gives no work without rest`() {
    occasion.met([1], 0, report(), now: 1_000)
    #expect(occasion.wait([2], 0, now: 1_000) == Occasion.firstPause)
    occasion.met([2], 0, report(), now: 3_000)
    #expect(occasion.wait([3], 0, now: 3_000) == 2 * Occasion.firstPause)
  }

  @Test func `what was told and goes on is told once`() {
    let last = report(waiting: 2, .late, .twin)
    var next = report(waiting: 2, .twin, .forged)
    next.news[0] = SyncNews(.twin, of: Sample.device, heard: 9)
    let fresh = next.besides(last)
    #expect(fresh.waiting == 0 && fresh.news.map { $0.notice } == [.forged])
    next.waiting = 3
    #expect(next.besides(last).waiting == 3)
    next.news[0] = SyncNews(.twin, of: Sample.vault)
    #expect(next.besides(last).news.count == 2)
  }
}
