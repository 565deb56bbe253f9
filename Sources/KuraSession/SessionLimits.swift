// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// How long a vault may stay unlocked.
public struct SessionLimits: Equatable, Sendable {
  /// Locked this long after a value was last served or stored; milliseconds.
  public var idleTimeout: UInt64

  /// Locked this long after the unlock, used or not; milliseconds.
  public var maxSession: UInt64

  /// Locked when the machine slept.
  public var locksOnSleep: Bool

  /// The limits of a vault whose owner set none.
  public static let standard = SessionLimits(
    idleTimeout: Setting.idleTimeout.standard, maxSession: Setting.maxSession.standard,
    locksOnSleep: Setting.lockOnSleep.standard != 0)

  /// Limits with two times in milliseconds.
  public init(idleTimeout: UInt64, maxSession: UInt64, locksOnSleep: Bool) {
    self.idleTimeout = idleTimeout
    self.maxSession = maxSession
    self.locksOnSleep = locksOnSleep
  }

  /// These limits with the times that an unlock asked for; 0 asks for none.
  public func replacing(idleTimeout: UInt64, maxSession: UInt64) -> SessionLimits {
    SessionLimits(
      idleTimeout: idleTimeout == 0 ? self.idleTimeout : idleTimeout,
      maxSession: maxSession == 0 ? self.maxSession : maxSession, locksOnSleep: locksOnSleep)
  }
}
