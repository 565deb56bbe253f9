// SPDX-License-Identifier: MIT

/// Holds what a TPM made of a secret: of no use without the TPM, and no secret itself.
public struct ChipObject: Equatable, Sendable {
  /// The longest part, in bytes.
  public static let longestPart = 680

  /// The name of the storage key below which it was made: which TPM it is of, and of which owner of that.
  public let storageKey: [UInt8]
  /// Its public area, TPM2B_PUBLIC.
  public let publicArea: [UInt8]
  /// Its sealed area, TPM2B_PRIVATE.
  public let privateArea: [UInt8]

  /// An object, whose parts have at most ``longestPart`` bytes each and none of which is empty; nil for others.
  public init?(storageKey: [UInt8], publicArea: [UInt8], privateArea: [UInt8]) {
    for part in [storageKey, publicArea, privateArea] {
      guard (1...ChipObject.longestPart).contains(part.count) else { return nil }
    }
    self.storageKey = storageKey
    self.publicArea = publicArea
    self.privateArea = privateArea
  }
}

/// Tells how a TPM holds against somebody who guesses at codes.
public struct ChipFacts: Equatable, Sendable {
  /// Wrong codes that it counts now, by whomever they were tried.
  public let failures: UInt32
  /// How many of them lock it; 0 for never.
  public let mostFailures: UInt32
  /// After how many seconds it forgets one.
  public let interval: UInt32
  /// Whether a password keeps others from setting the count back.
  public let hasLockoutPassword: Bool

  /// Facts as a TPM tells them.
  public init(failures: UInt32, mostFailures: UInt32, interval: UInt32, hasLockoutPassword: Bool) {
    self.failures = failures
    self.mostFailures = mostFailures
    self.interval = interval
    self.hasLockoutPassword = hasLockoutPassword
  }

  /// Whether it stops who tries all short codes: at a hundred an interval of 10 s ten thousand take a day.
  public var isLimited: Bool { (1...100).contains(mostFailures) && interval >= 10 }

  /// How many wrong codes it still takes.
  public var left: UInt32 { mostFailures - min(failures, mostFailures) }

  /// Whether a code may be tried: others need its tries as well, such as the disk at the next start.
  public var mayTry: Bool { mostFailures == 0 || left >= (mostFailures + 1) / 2 }

  /// In how many seconds a code may be tried at the latest.
  public var wait: UInt32 {
    guard !mayTry else { return 0 }
    let spare = (mostFailures + 1) / 2 - left
    return spare.multipliedReportingOverflow(by: interval).overflow ? .max : spare * interval
  }
}

/// Says why a chip, or a security key, did not do what it was asked for.
public struct ChipFault: Error, Equatable, Sendable {
  /// Names the reasons.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// `kura-hardware` is not on this machine, or was not when the agent started.
    case noProgram = 1
    /// It ended, or said what means nothing.
    case programFailed = 2
    /// There is no TPM here.
    case noChip = 3
    /// This user may not use it; the number is that of the group that may, 0 for none.
    case denied = 4
    /// Somebody else has it.
    case busy = 5
    /// It is another TPM than the one that has the slot's secret, or was cleared.
    case other = 6
    /// The code is wrong, which the TPM has counted.
    case wrong = 7
    /// It takes no code now; the number is the seconds until it does.
    case lockedOut = 8
    /// It has a password of its owner, without which no key can be made in it.
    case owned = 9
    /// It does not limit how often codes are tried.
    case unlimited = 10
    /// It failed; the number is TSS's.
    case failed = 11
    /// No security key is plugged in that this user may use.
    case noKey = 12
    /// None of those that are plugged in has made what the slot is of.
    case otherKey = 13
    /// More than one is plugged in, where one is to be chosen.
    case severalKeys = 14
    /// It cannot keep a secret of a slot (hmac-secret).
    case noSecrets = 15
    /// It wants its PIN.
    case pinNeeded = 16
    /// It has no PIN to be asked for.
    case noPIN = 17
    /// The PIN is wrong; the number is how many more it takes.
    case wrongPIN = 18
    /// It would take no further PIN but one, or none, which is the number; none was tried.
    case lastPIN = 19
    /// It takes a PIN again once it was unplugged.
    case pinPaused = 20
    /// Nobody touched it in time.
    case untouched = 21
    /// Somebody said no to it.
    case declined = 22
    /// It did not know who touched it.
    case unverified = 23
    /// It verifies who uses it where the slot was made without that, or the other way round.
    case otherManner = 24
    /// It was unplugged.
    case keyGone = 25
    /// It failed; the number is libfido2's.
    case keyFailed = 26
    /// One is plugged in that this user may not use; the number is that of its device, /dev/hidraw.
    case keyDenied = 27
  }

  /// Why.
  public let kind: Kind
  /// What belongs to it; else 0.
  public let number: UInt32

  /// A fault.
  public init(_ kind: Kind, _ number: UInt32 = 0) {
    self.kind = kind
    self.number = number
  }
}
