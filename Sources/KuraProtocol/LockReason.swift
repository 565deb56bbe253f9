// SPDX-License-Identifier: MIT

/// Says why the vault is locked.
public enum LockReason: UInt8, Sendable, CaseIterable {
  /// Not unlocked since the agent started.
  case neverUnlocked = 1
  /// `kura lock`.
  case asked = 2
  /// Not used for the idle timeout.
  case idle = 3
  /// Unlocked for the longest time allowed.
  case sessionLimit = 4
  /// The machine slept, seen by its clocks.
  case slept = 5
  /// The agent got a signal to end.
  case signal = 6
  /// The agent's socket is gone: the login session ended.
  case socketGone = 7
  /// The desktop said that the machine goes to sleep.
  case suspend = 8
  /// The screen was locked.
  case screenLock = 9
  /// The user logged out.
  case logout = 10
  /// The vault's file was changed behind the agent's back, or is an older one.
  case vaultChanged = 11

  /// The reason in a word or two, as `status` shows it.
  public var text: String {
    switch self {
    case .neverUnlocked: "not unlocked yet"
    case .asked: "asked"
    case .idle: "idle"
    case .sessionLimit: "session limit"
    case .slept: "slept"
    case .signal: "agent ended"
    case .socketGone: "session ended"
    case .suspend: "suspend"
    case .screenLock: "screen lock"
    case .logout: "logout"
    case .vaultChanged: "vault changed"
    }
  }
}
