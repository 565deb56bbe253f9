// SPDX-License-Identifier: MIT

/// Holds the clocks of the machine as they were read at one time; all in milliseconds.
public struct Moment: Equatable, Sendable {
  /// CLOCK_BOOTTIME: since boot, sleep included; can be set in a time namespace of one's own alone.
  public var boot: UInt64

  /// CLOCK_MONOTONIC: since boot, sleep left out.
  public var monotonic: UInt64

  /// Unix time; shown to people, never compared.
  public var wall: UInt64

  /// A reading of the three clocks.
  public init(boot: UInt64, monotonic: UInt64, wall: UInt64) {
    self.boot = boot
    self.monotonic = monotonic
    self.wall = wall
  }

  /// How long the machine has slept since it was started.
  var asleep: UInt64 { boot > monotonic ? boot - monotonic : 0 }
}
