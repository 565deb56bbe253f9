// SPDX-License-Identifier: MIT

/// Limits how long keys are held beside a session while a person is asked for a word.
///
/// It has a session's care: the deadline is on the boot clock, compared before every request is
/// served, and sleep ends it.
struct KeyHold: Equatable, Sendable {
  /// When the keys are wiped, in milliseconds since boot.
  let deadline: UInt64
  private let asleep: UInt64

  /// Keys held from `now` on, for so many milliseconds.
  init(for time: UInt64, at now: Moment) {
    let (end, overflow) = now.boot.addingReportingOverflow(time)
    deadline = overflow ? .max : end
    asleep = now.asleep
  }

  /// Whether the keys have to be wiped.
  func isOver(at now: Moment) -> Bool {
    let slept = now.asleep > asleep ? now.asleep - asleep : 0
    return now.boot >= deadline || slept > LockState.sleepTolerance
  }
}
