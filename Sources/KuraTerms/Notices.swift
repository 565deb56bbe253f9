// SPDX-License-Identifier: MIT

/// Tells what an unlock has to say beside that it worked.
public struct Notice: OptionSet, Sendable {
  /// One bit a notice, as it stands in a reply.
  public let rawValue: UInt32

  /// Takes the bits as they stand; unknown ones are kept.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// This machine has not seen the vault before, so an older copy could not be noticed.
  public static let firstSeen = Notice(rawValue: 1)
  /// An older copy was accepted, as asked.
  public static let rollbackAccepted = Notice(rawValue: 2)
  /// The slot was weaker than policy and has been wrapped anew.
  public static let slotStrengthened = Notice(rawValue: 4)
  /// The slot is weaker than policy and stays so, as asked when it was made.
  public static let weakSlot = Notice(rawValue: 8)
  /// Guarded memory could not be locked: secrets may reach swap.
  public static let memoryNotLocked = Notice(rawValue: 16)
  /// The count of wrong passcodes could not be written.
  public static let triesNotKept = Notice(rawValue: 32)
  /// The note of the newest state could not be written.
  public static let seenNotKept = Notice(rawValue: 64)
  /// The vault was unlocked already; the new limits apply.
  public static let alreadyUnlocked = Notice(rawValue: 128)
  /// Wrong passcodes were tried since the last unlock.
  public static let triesFailed = Notice(rawValue: 256)
  /// The note of the newest state was damaged, so an older copy could not be noticed.
  public static let seenDamaged = Notice(rawValue: 512)
  /// The vault was at another path when this machine saw it last.
  public static let moved = Notice(rawValue: 1_024)
  /// Another vault was last at this path, which was accepted, as asked.
  public static let exchangeAccepted = Notice(rawValue: 4_096)
  /// The note of the newest state is gone, so an older copy could not be noticed.
  public static let seenGone = Notice(rawValue: 8_192)
  /// Settings that were made looser on another copy of the vault are so here from now on.
  public static let settingsLoosened = Notice(rawValue: 16_384)
}

/// Lists what makes a vault or this machine weaker than it should be; shown by `status`.
public struct Weaknesses: OptionSet, Sendable {
  /// One bit a weakness, as it stands in a reply.
  public let rawValue: UInt32

  /// Takes the bits as they stand; unknown ones are kept.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A passcode slot takes less work than policy asks for.
  public static let weakKDF = Weaknesses(rawValue: 1)
  /// Guarded memory is not locked.
  public static let memoryNotLocked = Weaknesses(rawValue: 2)
  /// There is no recovery key: a forgotten passcode loses everything.
  public static let noRecoveryKey = Weaknesses(rawValue: 4)
  /// The count of wrong passcodes cannot be written.
  public static let triesNotKept = Weaknesses(rawValue: 8)
  /// The note of the newest state cannot be written: rollback goes unnoticed after a restart.
  public static let seenNotKept = Weaknesses(rawValue: 16)
  /// The vault does not lock when the machine sleeps.
  public static let staysOpenInSleep = Weaknesses(rawValue: 32)
  /// One passcode opens protected items again for a while.
  public static let reuseWindow = Weaknesses(rawValue: 64)
  /// The vault stays unlocked without use for longer than a new one does.
  public static let longIdleTimeout = Weaknesses(rawValue: 128)
  /// The vault stays unlocked for longer than a new one does.
  public static let longMaxSession = Weaknesses(rawValue: 256)
  /// Fewer revisions are kept than of a new vault's items.
  public static let shortHistory = Weaknesses(rawValue: 512)
  /// Fewer entries of the access log are kept than of a new vault.
  public static let shortLog = Weaknesses(rawValue: 1024)
}
