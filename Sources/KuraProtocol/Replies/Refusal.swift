// SPDX-License-Identifier: MIT

/// Tells a client why the agent did not do what was asked, with the facts that belong to it; nothing
/// changed unless the case says so.
public enum Refusal: Error, Equatable, Sendable {
  /// Names the item, attribute or path that a refusal is about; never a secret.
  public enum Subject: Equatable, Sendable {
    case none
    /// A path, or words of the agent's own. What was read from a reply is always this, or none.
    case text(String)
    /// Bytes of the request, so that an item's name is not copied out of guarded memory.
    case field(Range<Int>)
  }

  /// A fault of the agent itself: what it was doing.
  case fault(Subject)
  /// The code of a newer agent, which is not known here, or comes with facts that are not.
  case unknown(code: UInt16)
  /// The request could not be read; the connection ends.
  case malformed
  /// The agent does not speak the client's version.
  case otherVersion(newest: UInt16)
  /// The agent knows the verb or option, but this release does not do it: what.
  case unsupported(Subject)
  /// The agent is ending.
  case stopping
  /// The vault or the agent is busy at the moment.
  case busy
  /// The vault's file is being made shorter.
  case compacting
  /// It was busy, and what the request took is used up, or too many wait already.
  case tooBusy
  /// It took too long.
  case timedOut
  /// No memory was left.
  case outOfMemory
  /// Guarded memory could not be locked and `--require-mlock` was given.
  case memoryNotLocked

  /// The vault is locked.
  case locked(LockNote)
  /// There is no vault at this path.
  case noVault(Subject)
  /// The file at this path is no vault.
  case notAVault(Subject)
  /// The vault at this path has a newer format; it was not touched.
  case newerFormat(UInt32, Subject)
  /// A vault stands at this path already; it was not touched.
  case vaultExists(Subject)
  /// The vault is damaged or was tampered with: what part, or an item's name.
  case damaged(Subject)
  /// The vault is older than one seen before.
  case rolledBack(Copies)
  /// The vault has gone another way than the one seen before.
  case forked(Copies)
  /// Another vault was last unlocked at this path; where this one was then, none where this machine never
  /// saw it.
  case exchanged(last: Subject)
  /// The directory or file at this path is not the user's alone.
  case placeUnsafe(PlaceFlaw, Subject)
  /// The system denied access to this path.
  case permissionDenied(AccessFlaw, Subject)
  /// The disk with this path is full; the state before stands.
  case diskFull(Subject)
  /// Reading or writing this path failed: errno.
  case inputOutput(errno: Int32, Subject)
  /// A file of this machine's state cannot be used: errno, 0 where it is no file or one that others may
  /// write; the vault was not touched.
  case stateUnusable(errno: Int32, Subject)
  /// The path of the vault cannot be used: not absolute, too long, or with a NUL.
  case pathInvalid
  /// What was purged is gone from the vault, but not yet from its WAL, which another reader holds.
  case walKept
  /// The keys are wiped and the vault is locked, but its file is not whole yet.
  case notWhole(isHeld: Bool, Subject)
  /// The same, and it will not be before the next lock, as writing failed: errno.
  case wholeFailed(errno: Int32, Subject)
  /// No backup takes the place of what stands at this path.
  case backupRefused(BackupFlaw, Subject)
  /// A backup could not be written at this path: errno; what stood there still does.
  case backupFailed(errno: Int32, Subject)
  /// What was written at this path is no whole copy of the vault, and was removed.
  case backupUnsound(Subject)
  /// What stands at this path is not brought together with the vault.
  case mergeRefused(CopyFlaw, Subject)
  /// The copy at this path is damaged; the vault was not changed.
  case copyUnsound(Subject)
  /// The client is part of a masked run that does not take the value to mask it, and so nothing was handed out.
  case maskerSilent
  /// No process has that number, or it ended meanwhile; 0 where it is not known.
  case processGone(UInt32)
  /// Everything of a login, a desktop or a terminal stands below that process, or it is not the user's own in the
  /// agent's namespaces: nothing is granted to it.
  case processUnfit(UInt32)
  /// The client is in a room, or in another container than the agent, and is not served this.
  case confined(RoomFlaw)

  /// The passcode or code is wrong.
  case wrongPasscode(WrongPasscode)
  /// The recovery key or key file opens no slot; nil where what was proved ended meanwhile.
  case wrongKey(Credential?)
  /// The recovery key has a typing error.
  case recoveryKeyTypo(RecoveryKeyTypo)
  /// The vault has no slot of that kind.
  case noSuchSlot(Credential)
  /// The slot of that number is of another kind than what was shown.
  case slotOfOtherKind(UInt8, Credential)
  /// Too many were wrong, and nothing was tried: for how many ms still; a recovery key does not wait.
  case throttled(wait: UInt64, hasRecoveryKey: Bool)
  /// A code is not tried while wrong ones cannot be counted.
  case triesNotKept
  /// No code is tried, as the rule that says when this machine's secret is destroyed is damaged.
  case eraseRuleDamaged
  /// A code was wrong as often as the vault's owner allows: the secrets of this machine that its codes
  /// need are destroyed.
  case localErased(failures: UInt32)
  /// This machine's TPM, or a security key, did not do what a slot needs.
  case chipUnfit(ChipFault)
  /// It takes no code now, so that none was tried: for how many seconds still.
  case chipLocked(seconds: UInt32)
  /// The PIN of the security key is wrong: how many more it takes.
  case wrongPIN(left: UInt32)
  /// Nobody touched the security key in time.
  case keyUntouched
  /// The finger is none that the reader knows; how many may yet be so before only the passcode counts.
  case fingerWrong(left: UInt32)
  /// No finger was taken.
  case fingerUnfit(FingerFault)
  /// A slot asks for more work than is safe to do.
  case kdfTooCostly(KDFParameters)
  /// The wanted work is below this floor.
  case kdfTooWeak(floor: KDFParameters)
  /// A passcode breaks a rule.
  case passcodeInvalid(PasscodeRule)
  /// A slot's label breaks a rule.
  case labelInvalid(LabelRule)
  /// A key file has fewer bytes than this.
  case keyFileTooShort(least: Int)
  /// No slot has that number.
  case slotNotFound(UInt8)
  /// As many slots are taken as there can be, or can be of those with a passcode.
  case slotsFull(limit: Int)
  /// The slot of that number takes the same already, or has a code for the same TPM.
  case slotTaken(UInt8)
  /// The vault has a recovery key already.
  case recoveryKeyExists
  /// Neither a passcode nor a recovery key would be left.
  case lastSlot
  /// The store gets recovery keys alone, and there is none, or would be none.
  case recoveryKeyNeeded
  /// Slots of passcodes are in a store that is to get recovery keys alone.
  case passcodesInStore
  /// Which slots open the vault on other machines has not come from the store yet.
  case slotsAwaited
  /// A new vault key takes a passcode.
  case rekeyTakesPasscode
  /// A change of slots takes a passcode or the recovery key.
  case slotsTakeOwner
  /// A fresh passcode is needed: the item is protected.
  case protected(Subject)
  /// What was shown opens a slot that does not open protected values.
  case opensNoProtected
  /// It would make the vault easier to read, or forget what was kept, and takes the owner's word, which
  /// the request did not carry.
  case ownerNeeded(Subject)
  /// The protected item has as many earlier revisions as are kept of any.
  case historyFull(Subject)
  /// Nobody said in time that a recovery key was written down: nothing was made or changed.
  case unconfirmed
  /// Somebody cancelled the prompt; for how many ms new prompts are answered so.
  case cancelled(lasting: UInt64)

  /// No such item.
  case notFound(Subject)
  /// The item has no attribute with this key.
  case attributeNotFound(Subject)
  /// That revision is not kept.
  case revisionNotFound
  /// The item exists, at this revision.
  case exists(revision: UInt64, Subject)
  /// The item has another revision: this one, 0 when there is no item.
  case revisionConflict(current: UInt64)
  /// The value was replaced or deleted while it was being read.
  case changedMeanwhile
  /// The item is there at this revision, and no earlier one was named.
  case notDeleted(revision: UInt64, Subject)
  /// The revision is the current one.
  case revisionCurrent
  /// A name breaks a rule.
  case nameInvalid(NameRule)
  /// An attribute breaks a rule.
  case attributeInvalid(AttributeRule)
  /// The value is empty and that was not asked for.
  case valueEmpty
  /// Something is larger than so many bytes; 0 when that depends.
  case tooLarge(limit: UInt64)
  /// The value is no otpauth URI.
  case otpInvalid(OTPRule)
  /// The item gives no one-time codes.
  case notOTP(Subject)
  /// The agent has no setting of this number.
  case settingUnknown(UInt8)
  /// A value of a setting is out of range.
  case settingInvalid(Setting)
}

/// Says why and since when a vault is locked.
public struct LockNote: Equatable, Sendable {
  /// What locked it; nil when not known.
  public let reason: LockReason?
  /// When, in ms of Unix time; 0 when not known.
  public let since: UInt64
  /// The idle timeout that applied until then, in ms; 0 when not known.
  public let idleTimeout: UInt64

  /// A note; without a reason it says nothing.
  public init(_ reason: LockReason? = nil, since: UInt64 = 0, idleTimeout: UInt64 = 0) {
    self.reason = reason
    self.since = since
    self.idleTimeout = idleTimeout
  }
}

/// Tells a vault from a copy of it that was seen before.
public struct Copies: Equatable, Sendable {
  /// The epoch that was seen.
  public let seen: UInt64
  /// The epoch of the vault at hand.
  public let epoch: UInt64
  /// When the one that was seen was written, in ms of Unix time; 0 when not known.
  public let written: UInt64
  /// Where it was.
  public let place: Refusal.Subject

  /// What is known of both.
  public init(seen: UInt64, epoch: UInt64, written: UInt64, place: Refusal.Subject) {
    self.seen = seen
    self.epoch = epoch
    self.written = written
    self.place = place
  }
}

/// Tells what a wrong passcode or code means to who typed it.
public struct WrongPasscode: Equatable, Sendable {
  /// Wrong ones in a row so far, on this machine.
  public var failures: UInt32 = 0
  /// How many ms pass until the next one may be tried.
  public var wait: UInt64 = 0
  /// Whether the vault has a recovery key.
  public var hasRecoveryKey = false
  /// Whether it could be a code for this machine, which the request does not take.
  public var isUntakenCode = false
  /// Whether only a code could have been right: one was said to be shown, or the vault has no passcode.
  public var isCode = false

  /// A first wrong passcode of a vault without anything else.
  public init() {}
}

/// Locates a typing error in a recovery key.
public enum RecoveryKeyTypo: Equatable, Sendable {
  /// It is somewhere.
  case anywhere
  /// It is in this group, from 1.
  case group(UInt8)
  /// It has so many letters and digits, not 36.
  case length(UInt32)
}

/// Names what is wrong with a directory or file that only its user should reach.
public enum PlaceFlaw: UInt8, Sendable, CaseIterable {
  /// Others may write in the directory.
  case directoryWritable = 0
  /// The directory belongs to another user.
  case directoryOwner = 1
  /// Others have rights to the vault's file.
  case fileOpen = 2
  /// The vault's file belongs to another user.
  case fileOwner = 3
}

/// Names what access to a vault fails at.
public enum AccessFlaw: UInt8, Sendable, CaseIterable {
  /// The rights of the file or its directory.
  case rights = 0
  /// Nothing can be written there.
  case readOnly = 1
  /// What was written last stands in a WAL that cannot be read where nothing can be written.
  case walOutOfReach = 2
}
