// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Limits how long a vault stays unlocked.
struct SessionLimits: Equatable, Sendable {
  /// Locked this long after a value was last served or stored; milliseconds.
  var idleTimeout: UInt64

  /// Locked this long after the unlock, used or not; milliseconds.
  var maxSession: UInt64

  /// Locked when the machine slept.
  var locksOnSleep: Bool

  /// The limits of a vault whose owner set none.
  static let standard = SessionLimits(
    idleTimeout: Setting.idleTimeout.standard, maxSession: Setting.maxSession.standard,
    locksOnSleep: Setting.lockOnSleep.standard != 0)

  /// These limits with the times that an unlock asked for; 0 asks for none.
  func replacing(idleTimeout: UInt64, maxSession: UInt64) -> SessionLimits {
    SessionLimits(
      idleTimeout: idleTimeout == 0 ? self.idleTimeout : idleTimeout,
      maxSession: maxSession == 0 ? self.maxSession : maxSession, locksOnSleep: locksOnSleep)
  }
}
