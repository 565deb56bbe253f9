// SPDX-License-Identifier: MIT

internal import CKuraSystem

extension Moment {
  /// The machine's clocks, now.
  public static func now() -> Moment {
    var reading = kura_moment()
    unsafe kura_moment_now(&reading)
    return Moment(boot: reading.boot, monotonic: reading.monotonic, wall: reading.wall)
  }
}
