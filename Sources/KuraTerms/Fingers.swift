// SPDX-License-Identifier: MIT

/// Says why no finger was taken: none of it says that one was wrong.
public enum FingerFault: UInt8, Error, Sendable, CaseIterable {
  /// The vault's owner has not switched it on.
  case off = 1
  /// Too many did not match, or the reader took no more: only the passcode counts until it has worked.
  case spent = 2
  /// `kura-desktop` is not on this machine, or was not when the agent started.
  case noProgram = 3
  /// It ended, or said what means nothing.
  case programFailed = 4
  /// There is no system bus, or no fprintd on it.
  case noDaemon = 5
  /// The bus, or who calls itself fprintd on it, is not root's.
  case untrusted = 6
  /// There is no reader.
  case noReader = 7
  /// No finger of this user is known to any.
  case noFinger = 8
  /// This user may not use it, or not from where he is.
  case denied = 9
  /// Somebody else has the reader.
  case busy = 10
  /// It was unplugged meanwhile.
  case unplugged = 11
  /// Nobody touched it in time.
  case timedOut = 12
  /// It failed.
  case failed = 13

  /// The reason in words.
  public var text: String {
    switch self {
    case .off: "the setting fingerprint is off"
    case .spent: "only the passcode counts until it has worked"
    case .noProgram: "kura-desktop is not beside the agent, or was not when that started"
    case .programFailed: "kura-desktop, which asks for it, ended without an answer"
    case .noDaemon: "fprintd is not on this machine, or does not answer"
    case .untrusted: "what calls itself fprintd, or the system bus, is not root's"
    case .noReader: "this machine has no fingerprint reader"
    case .noFinger: "no reader knows a finger of yours"
    case .denied: "this login may not use the reader"
    case .busy: "another program has the reader"
    case .unplugged: "the reader was unplugged"
    case .timedOut: "nobody touched the reader in time"
    case .failed: "the reader failed"
    }
  }
}
