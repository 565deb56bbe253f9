// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Says what may be tried next, after wrong tries of one kind.
struct TryStanding: Equatable, Sendable {
  /// Wrong ones since the last right one.
  let failures: UInt32
  /// How many may be made before there is a wait.
  let left: UInt32
  /// Milliseconds until the next one; ``TryPolicy/untilPasscode`` when no time helps.
  let wait: UInt64

  /// Whether the wait begins only now, so that it has to be noted: the clock that the last try was timed by
  /// says nothing about this one.
  var mustRestart = false

  /// Whether one may be made now.
  var isAllowed: Bool { wait == 0 }

  /// A standing whose wait is under way.
  init(failures: UInt32, left: UInt32, wait: UInt64) {
    self.failures = failures
    self.left = left
    self.wait = wait
  }
}

/// Decides how wrong tries slow down the next ones; it has no state, and the clock is the caller's.
///
/// The delays bind who sits at this machine. Somebody with a copy of the vault's file tries elsewhere.
enum TryPolicy {
  /// So many are free; the next ones are made to wait.
  static let free: UInt32 = 5

  /// The wait of a key file, or a code for a TPM, that was wrong too often: until the passcode has worked.
  static let untilPasscode = UInt64.max

  /// After the fifth, sixth … wrong passcode, in ms. The last one holds for all further ones, so that a
  /// script that repeats itself does not shut its owner out.
  private static let passcodeDelays: [UInt64] = [5_000, 15_000, 30_000, 60_000]

  /// The same for short codes, which have few values to go through.
  private static let localDelays: [UInt64] = [60_000, 300_000, 900_000, 3_600_000]

  /// What may be tried now.
  ///
  /// - Parameters:
  ///   - tally: The wrong ones so far.
  ///   - now: The boot clock, in milliseconds.
  ///   - origin: What that clock counts from.
  static func standing(
    _ kind: TryKind, _ tally: TryTally, at now: UInt64, in origin: ClockOrigin
  ) -> TryStanding {
    let failures = tally.failures
    guard failures >= free else {
      return TryStanding(failures: failures, left: free - failures, wait: 0)
    }
    guard kind != .keyFile, kind != .tpm else {
      return TryStanding(failures: failures, left: 0, wait: untilPasscode)
    }
    let delay = delay(kind, failures)
    let passed = passed(since: tally, now, origin)
    let wait = delay - min(delay, passed ?? 0)
    var standing = TryStanding(failures: failures, left: wait == 0 ? 1 : 0, wait: wait)
    standing.mustRestart = passed == nil
    return standing
  }

  private static func delay(_ kind: TryKind, _ failures: UInt32) -> UInt64 {
    let delays = kind == .local ? localDelays : passcodeDelays
    return delays[min(Int(failures - free), delays.count - 1)]
  }

  /// How much of a delay is over.
  ///
  /// - Returns: Nil where this clock does not tell, so that the delay begins again: it is behind the last try, or
  ///   counts from another start of the machine or in another namespace. In namespaces of one's own a clock may
  ///   be ahead, and another file stand for the one that says which start it is.
  private static func passed(
    since tally: TryTally, _ now: UInt64, _ origin: ClockOrigin
  ) -> UInt64? {
    guard tally.origin == origin else { return nil }
    return tally.last <= now ? now - tally.last : nil
  }
}

// MARK: - Successes

extension TryRecord {
  /// Forgets the wrong tries that a right one makes up for.
  ///
  /// A second way in clears only its own; the passcode, and the recovery key where it is a way to a new
  /// one, show who is there. Key files wait for the passcode itself.
  mutating func succeed(_ credential: Credential) {
    switch credential {
    case .passcode: for kind in TryKind.allCases { self[kind] = .none }
    case .recoveryKey:
      self[.passcode] = .none
      self[.local] = .none
      self[.tpm] = .none
    case .keyFile: self[.keyFile] = .none
    case .local: self[.local] = .none
    case .tpm: self[.tpm] = .none
    case .fido2: break
    }
  }
}
