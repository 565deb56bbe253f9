// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraCLI

@Suite struct MomentTests {
  @Test(
    arguments: [
      0, 1, 999, 951_782_400_000, 951_868_799_999, 1_709_164_800_000, 4_102_444_800_000,
      253_402_300_799_999,
    ] as [UInt64])
  func `programs read RFC 3339 in UTC`(_ milliseconds: UInt64) throws {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let date = Date(timeIntervalSince1970: Double(milliseconds / 1_000))
    let text = Moment.rfc3339(milliseconds)
    #expect(text.prefix(20) == style.format(date).prefix(20))
    #expect(text.hasSuffix("Z") && text.utf8.count == 24)
    #expect(Moment.milliseconds(rfc3339: text.utf8.span) == milliseconds)
    let whole = text.prefix(19) + "Z"
    #expect(
      Moment.milliseconds(rfc3339: Array(whole.utf8).span) == milliseconds / 1_000 * 1_000)
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-11-21T14:02:10", "2026-11-21 14:02:10Z", "2026-11-21T14:02:10.25Z",
    "2026-11-21T14:02:10+00:00", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "1969-12-31T23:59:59Z",
    "2026-11-21T14:02:1\u{0}Z",
    "2026-11-21T14:02:10.250z",
  ])
  func `what is no moment is none`(_ text: String) {
    #expect(Moment.milliseconds(rfc3339: text.utf8.span) == nil)
  }

  @Test func `each day of four centuries has its date`() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    for day in stride(from: 0, to: 146_097, by: 1) {
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
      let text = Moment.rfc3339(UInt64(day) * 86_400_000)
      let expected = String(
        format: "%04d-%02d-%02dT", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
      guard text.hasPrefix(expected) else {
        Issue.record("day \(day): \(text), not \(expected)")
        return
      }
      guard Moment.milliseconds(rfc3339: text.utf8.span) == UInt64(day) * 86_400_000 else {
        Issue.record("day \(day): \(text) is read as another")
        return
      }
    }
  }

  @Test func `today is told by the hour, another day by its date`() {
    let now = UInt64(Date.now.timeIntervalSince1970 * 1_000)
    #expect(Moment.recent(now, now: now).wholeMatch(of: /\d\d:\d\d/) != nil)
    let text = Moment.recent(now - 3 * 86_400_000, now: now)
    #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d/) != nil)
  }
}
