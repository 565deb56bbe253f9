// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Decides when a store is met: where something changed here or there, where not all was there yet, and now and then.
///
/// All times are in ms since the machine was started.
struct Occasion {
  /// A store is met that often at least: what tells heads apart may be the same of two.
  static let often: UInt64 = 600_000
  /// Between two meetings that bring nothing, at first and at last.
  static let firstPause: UInt64 = 2_000
  static let lastPause: UInt64 = 60_000
  /// A change of here waits no longer than that for the next meeting.
  static let change: UInt64 = 1_000

  /// What stood in the store when it was met last; nil: it was not yet.
  private var seen: [UInt8]?
  /// How many changes a meeting had before it, and let lie.
  private var tried: UInt64 = 0
  /// Whether something was to come yet.
  private var isLate = false
  private var last: UInt64 = 0
  /// How long a store rests that looks other than it did, and one that something is to come to yet.
  private var (pause, latePause): (UInt64, UInt64) = (0, 0)

  /// How long it is until the store is to be met, in ms; 0: now.
  ///
  /// - Parameters:
  ///   - marks: What stands in it.
  ///   - waiting: How many changes of here do not.
  mutating func wait(_ marks: [UInt8], _ waiting: UInt64, now: UInt64) -> UInt64 {
    guard let seen else { return 0 }
    // What lay has gone out otherwise.
    tried = min(tried, waiting)
    let rest =
      waiting > tried
      ? min(max(pause, latePause), Self.change)
      : marks != seen ? pause : isLate ? latePause : Self.often
    return last + rest > now ? last + rest - now : 0
  }

  /// Notes a meeting.
  ///
  /// - Parameters:
  ///   - marks: What stood in the store before it.
  ///   - waiting: How many changes of here did not.
  ///   - report: What came of it.
  mutating func met(
    _ marks: [UInt8], _ waiting: UInt64, _ report: SyncReply, now: UInt64
  ) {
    // What was stored during the meeting was not tried.
    tried = report.sent > 0 || report.objects > 0 ? 0 : waiting
    isLate = report.news.contains { $0.notice.mayCome }
    if report.came != SyncCounts() || report.sent > 0 {
      (pause, latePause) = (0, 0)
    } else if marks == seen {
      // Whoever is not there is no reason to leave what others write.
      if now - last > 2 * pause { pause = 0 }
      latePause = longer(latePause, now)
    } else {
      pause = longer(pause, now)
      latePause = pause
    }
    (seen, last) = (marks, now)
  }

  private func longer(_ pause: UInt64, _ now: UInt64) -> UInt64 {
    pause == 0 || now - last > 2 * pause ? Self.firstPause : min(2 * pause, Self.lastPause)
  }
}
