// SPDX-License-Identifier: MIT

import KuraAgent

/// The clocks of a machine that a test sets going.
struct FakeClock {
  private(set) var now = Moment(boot: 100_000, monotonic: 90_000, wall: 1_700_000_000_000)

  /// Time passes while the machine is awake.
  mutating func pass(milliseconds: UInt64) {
    now.boot += milliseconds
    now.monotonic += milliseconds
    now.wall += milliseconds
  }

  /// The machine sleeps: CLOCK_MONOTONIC stands still.
  mutating func sleep(milliseconds: UInt64) {
    now.boot += milliseconds
    now.wall += milliseconds
  }

  /// Somebody sets the wall clock.
  mutating func setWall(_ wall: UInt64) { now.wall = wall }
}
