// SPDX-License-Identifier: MIT

public import KuraFormat
public import KuraTerms

/// Names what of a vault is not as its owner left it.
public enum Damage: UInt8, Equatable, Sendable {
  /// The database itself is malformed.
  case pages = 1
  /// The tables are not the expected ones.
  case schema = 2
  /// The header, or what stands in front of the items as a whole.
  case header = 3
  /// A key slot.
  case slot = 4
  /// The key ring.
  case ring = 5
  /// The root.
  case root = 6
  /// A node of the integrity tree.
  case node = 7
  /// A bucket of the integrity tree.
  case bucket = 8
  /// An item: changed, swapped, replayed or missing.
  case item = 9
  /// An earlier revision of an item.
  case history = 10
  /// A chunk of a large value.
  case chunk = 11
  /// The list of values that no item refers to.
  case loose = 12
}

/// Says why a directory or file is not fit for a vault.
public enum UnsafeReason: Equatable, Sendable {
  /// It belongs to another user.
  case owner
  /// Group or others have rights to it; the permission bits.
  case mode(UInt16)
  /// It is a symbolic link, or neither a directory nor a regular file.
  case kind
}

/// Describes the newer or other state of a vault that was seen before the one at hand.
public struct SeenCopy: Equatable, Sendable {
  /// The epoch that it had.
  public let epoch: UInt64
  /// When it was seen, in milliseconds since 1970.
  public let time: UInt64
  /// Where it stood; a path, of which only the end is kept when it is long. No secret.
  public let path: [UInt8]
}

/// Says why an operation on a vault did not happen. Unless a case says otherwise, nothing was changed and the
/// vault can be used on.
public enum VaultError: Error, Equatable, Sendable {
  // MARK: The file

  /// Nothing stands at the path.
  case noVault
  /// There is a file, but it is no vault.
  case notAVault
  /// The vault was written by a later release; it was not touched. The number of its format.
  case newerFormat(UInt32)
  /// A file is not brought together with the vault.
  case copyRefused(CopyFlaw)
  /// A copy to merge is not as its owner left it; the vault itself is another matter.
  case copyDamaged
  /// The vault has no place for that before ``UnlockedVault/takeOver()``; nothing was changed.
  case takesNewFormat
  /// The vault is shared through no store; ``UnlockedVault/share(label:sparing:)`` begins that.
  case notShared
  /// Another device that shares the vault removed this one: it may join as a new one.
  case deviceRemoved
  /// Two keys that machines gave the vault took out each other's makers: only their owner can say which counts.
  case eachRemoved
  /// A vault cannot be created where something stands; nothing was overwritten.
  case pathTaken
  /// A vault cannot be created beside the WAL of another: it would be played into the new one.
  case walLeftBehind
  /// The directory is open to other users.
  case directoryUnsafe(UnsafeReason)
  /// The file is open to other users.
  case fileUnsafe(UnsafeReason)
  /// The directory of this machine's state is open to other users.
  case stateDirectoryUnsafe(UnsafeReason, path: String)
  /// A file of this machine's state cannot be used, the vault itself may well be whole: its path, and the
  /// system's `errno`; 0 where something else stands there than a file that only this user writes.
  case stateFile(Int32, path: String)
  /// The path no longer names the file that is open: lock, and open it anew.
  case replaced
  /// The system refused access.
  case permissionDenied
  /// File, directory or file system cannot be written.
  case readOnly
  /// What was written last is in a WAL that cannot be read where nothing can be written.
  case walOutOfReach
  /// No space is left.
  case diskFull
  /// Another engine holds the lock that is needed; trying again makes sense.
  case busy
  /// No memory is left.
  case outOfMemory
  /// The system gives no random bytes.
  case entropyUnavailable
  /// A system call failed with this `errno`.
  case io(Int32)

  // MARK: Trust

  /// The vault is not as its owner left it.
  case damaged(Damage)
  /// The vault is older than one that was seen: its epoch, and the copy that was newer.
  case rolledBack(SeenCopy, epoch: UInt64)
  /// The vault went another way from a common past than the copy that was seen.
  case forked(SeenCopy, epoch: UInt64)

  /// Another vault was last unlocked at this path. Where this one was then; empty when this machine never saw
  /// it.
  case exchanged(lastPath: [UInt8])

  // MARK: Unlocking

  /// The passcode, recovery key or key file opens no slot.
  case wrongPasscode
  /// The passcode breaks a rule, so that no vault can have it.
  case passcodeInvalid(TextRule)
  /// The recovery key was mistyped.
  case recoveryKeyTypo(RecoveryKeyRule)
  /// A key file has at least 32 bytes.
  case keyFileTooShort
  /// A code for this machine has at least 4 characters.
  case codeTooShort
  /// It has at most 16: what is longer is a passcode.
  case codeTooLong
  /// A code could open a slot, but its secret is not on this machine.
  case deviceSecretMissing
  /// A code was wrong as often as the owner allows, or had been: this machine's secrets are to be destroyed.
  case codesSpent(failures: UInt32)
  /// What says when this machine's secret for a slot is destroyed cannot be read: no code is tried.
  case eraseRuleDamaged
  /// This machine's TPM, or a security key, did not do what a slot needs.
  case chip(ChipFault)
  /// Others can read this machine's secret for a slot.
  case deviceSecretUnsafe(UnsafeReason)
  /// The vault has no slot of this kind.
  case noSuchSlot(Credential)
  /// This slot is there, but such a credential does not open it.
  case slotOfOtherKind(UInt8, Credential)
  /// Too many were wrong on this machine; milliseconds until the next one may be tried.
  case throttled(milliseconds: UInt64)
  /// The try could not be counted, and is too cheap to be made without that.
  case triesNotKept
  /// Each slot that could be tried asks for more work than an honest vault does; none was.
  case kdfRefused(KDFRefusal)
  /// The same of some slots; the secret opens none of the others.
  case wrongOrRefused(KDFRefusal)
  /// A new slot would cost a guesser less than the floor, and that was not asked for.
  case kdfTooWeak
  /// The credential does not carry what is needed, or was given for another state of the vault.
  case credentialStale
  /// It would make the vault easier to read, or forget what was kept: it takes an ``OwnerProof``.
  case ownerNeeded
  /// The protected item has as many earlier revisions as are kept of any, and only its owner has some forgotten.
  case historyFull

  /// The value is no otpauth URI.
  case otpInvalid(OTPRule)
  /// The item's value is none that one-time codes are made of.
  case notOTP

  /// No slot has this number.
  case slotNotFound(UInt8)
  /// The text cannot be a slot's label.
  case labelInvalid(TextRule)
  /// There is no room for another slot: this many fit, or fit of those that take a passcode.
  case slotsFull(limit: Int)
  /// The credential opens this slot already, or it has a code for the same TPM.
  case credentialTaken(UInt8)
  /// There is a recovery key already.
  case recoveryKeyExists
  /// Neither a passcode nor a recovery key would be left.
  case lastSlot
  /// The store gets recovery keys alone, and there is none, or would be none.
  case recoveryKeyNeeded
  /// Slots of passcodes are in a store that is to get recovery keys alone.
  case passcodesInStore
  /// Which slots open the vault on other machines has not come from the store yet.
  case slotsAwaited

  // MARK: Items

  /// There is no such item; that it is absent was verified.
  case notFound
  /// The item has no such revision any more.
  case revisionNotFound
  /// The item is there, at this revision, and which earlier one to bring back was not said.
  case notDeleted(revision: UInt64)
  /// The revision is the current one, which goes with the item only.
  case revisionCurrent
  /// The item exists, at this revision.
  case exists(revision: UInt64)
  /// The item is at another revision, this one.
  case revisionConflict(current: UInt64)
  /// The name breaks a rule.
  case nameInvalid(NameRule)
  /// An attribute breaks a rule.
  case attributeInvalid(AttributeRule)
  /// The value is longer than a vault holds.
  case tooLarge
  /// More changes stand side by side than there is room for, of one item, of a setting or of the slots.
  case tooManySides
  /// A setting is out of its range.
  case policyInvalid(Setting)
  /// The value was replaced or deleted while it was being read.
  case changed
  /// The value takes a fresh passcode.
  case protected
  /// What was shown opens a slot that does not open protected values.
  case noProtectedHalf
  /// The pieces of the upload were cleared away by another engine; it has to begin anew.
  case uploadLost
}

extension VaultError {
  /// Whether a secret was tried and is the wrong one: what counts as a try.
  public var isWrongSecret: Bool {
    if case .wrongOrRefused = self { return true }
    if case .chip(let fault) = self { return fault.kind == .wrongPIN }
    return self == .wrongPasscode
  }
}

extension VaultError {
  /// Whether this machine can keep no such file of its state, or has none: its vaults can be used.
  var isOfMachine: Bool { self == .noVault || self == .permissionDenied || self == .readOnly }

  /// Whether something of the vault is not as its owner left it.
  var isDamage: Bool { if case .damaged = self { true } else { false } }

  /// Whether that is no more than what is in the rows at hand: those behind them can be read.
  var isDamageOfRow: Bool { isDamage && self != .damaged(.pages) }
}
