// SPDX-License-Identifier: MIT

/// Why the agent refused a request; the code of a reply or an end. Zero means it did not.
///
/// What `detail`, `detail2`, `detail3` and `text` of a ``Refusal`` hold is said at each case;
/// what is not said is zero or empty.
public enum Failure: UInt16, Error, Sendable, CaseIterable {
  /// A fault of the agent itself. text: what it was doing.
  case fault = 1
  /// The request could not be read; the connection ends.
  case malformed = 2
  /// The agent does not speak the client's version. detail: the newest it speaks.
  case otherVersion = 3
  /// The agent knows the verb or option, but this release does not do it. text: what.
  case unsupported = 4
  /// The agent is ending.
  case stopping = 5
  /// Too many connections or too much work at once; try again.
  case busy = 6
  /// It took too long.
  case timedOut = 7
  /// No memory was left. detail: the bytes wanted, when known.
  case outOfMemory = 8
  /// Guarded memory could not be locked and `--require-mlock` was given.
  case memoryNotLocked = 9

  /// The vault is locked. detail: ``LockReason``, 0 for none; detail2: since, in ms of Unix
  /// time; detail3: the idle timeout that applied, in ms.
  case locked = 16
  /// There is no vault there. text: the path.
  case noVault = 17
  /// The file is no vault. text: the path.
  case notAVault = 18
  /// The vault has a newer format; it was not touched. detail: its format.
  case newerFormat = 19
  /// A vault stands there already; it was not touched. text: the path.
  case vaultExists = 20
  /// The vault is damaged or was tampered with. text: what part, or an item's name.
  case damaged = 21
  /// The vault is older than one seen before. detail: the epoch seen; detail2: this one's;
  /// detail3: when the other was written, in ms of Unix time; text: where the other was.
  case rolledBack = 22
  /// The vault has gone another way than the one seen before. Fields as ``rolledBack``.
  case forked = 23
  /// The vault's directory is not the user's alone. text: the path.
  case directoryUnsafe = 24
  /// The system denied access. text: the path.
  case permissionDenied = 25
  /// The disk is full; the state before stands. text: the path.
  case diskFull = 26
  /// Reading or writing failed. detail: errno; text: the path.
  case inputOutput = 27
  /// The path of the vault cannot be used: not absolute, too long, or with a NUL.
  case pathInvalid = 28

  /// The passcode is wrong. detail: failures so far; detail2: ms until the next try; detail3: 1 when the
  /// vault has a recovery key, plus 2 when it could be a code, which this request does not take.
  case wrongPasscode = 32
  /// The recovery key or key file opens no slot. detail: ``Credential``; 0 when what was proved ended
  /// meanwhile.
  case wrongKey = 33
  /// The recovery key has a typing error. detail: the group it is in, 1…9; 0 if not known;
  /// detail2: how many signs it has, when they are too few or too many, else 0.
  case recoveryKeyTypo = 34
  /// The vault has no slot of that kind. detail: ``Credential``; detail2: one more than the number of
  /// the slot that was meant, which is of another kind.
  case noSuchSlot = 35
  /// Too many wrong passcodes. detail: ms until the next try; detail2: 1 when the vault has a recovery
  /// key, which does not have to wait.
  case throttled = 36
  /// A passcode cannot be taken as it is. detail: ``PasscodeRule``.
  case passcodeInvalid = 37
  /// A slot asks for more work than is safe to do. detail: bytes of memory; detail2: passes.
  case kdfTooCostly = 38
  /// The wanted work is below the floor. detail: bytes of memory; detail2: passes: the floor.
  case kdfTooWeak = 39
  /// A fresh passcode is needed: the item is protected. text: the name.
  case protected = 40
  /// Somebody cancelled the prompt. detail: for how long new prompts are answered so, in ms.
  case cancelled = 41
  /// All slots are taken. detail: how many there can be, or can be of those with a passcode.
  case slotsFull = 42
  /// Policy does not allow it. text: which.
  case denied = 43
  /// No slot has that number. detail: the number.
  case slotNotFound = 44
  /// A label breaks a rule. detail: ``LabelRule``.
  case labelInvalid = 45
  /// A key file is too short. detail: the fewest bytes it has.
  case keyFileTooShort = 46
  /// Neither a passcode nor a recovery key would be left.
  case lastSlot = 47

  /// No such item. text: the name.
  case notFound = 48
  /// The item has no such attribute. text: the key.
  case attributeNotFound = 49
  /// That revision is not kept. detail: the current revision.
  case revisionNotFound = 50
  /// The item exists. detail: its revision; text: the name.
  case exists = 51
  /// The item has another revision. detail: the current one, 0 when there is no item.
  case revisionConflict = 52
  /// A name breaks a rule. detail: ``NameRule``.
  case nameInvalid = 53
  /// An attribute breaks a rule. detail: ``AttributeRule``.
  case attributeInvalid = 54
  /// Something is too large. detail: the limit in bytes, when there is one.
  case tooLarge = 55
  /// The value is empty and that was not asked for.
  case valueEmpty = 56
  /// A configuration value is out of range. detail: ``Setting``; detail2, detail3: the range.
  case configInvalid = 57

  /// What was shown opens a slot that does not open protected values.
  case opensNoProtected = 60
  /// It would make the vault easier to read, or forget what was kept, and takes the owner's word, which
  /// the request did not carry. text: the item's name, where it is about one.
  case ownerNeeded = 61
  /// Nobody said in time that a recovery key was written down: nothing was made or changed.
  case unconfirmed = 72
  /// A code was wrong as often as the vault's owner allows: the secrets of this machine that its codes
  /// need are destroyed. detail: failures.
  case localErased = 73
  /// The value is no otpauth URI. detail: ``OTPRule``.
  case otpInvalid = 76
  /// The item gives no one-time codes. text: the name.
  case notOTP = 77

  /// The item is there, and no earlier revision was named. detail: its revision; text: the name.
  case notDeleted = 88
  /// The revision is the current one. detail: it.
  case revisionCurrent = 89
  /// What was purged is gone from the vault, but not yet from its journal, which another reader holds.
  case journalKept = 90
  /// The keys are wiped and the vault is locked, but its file is not whole yet. detail: 1 as the disk takes
  /// long, 2 as another program reads or writes the vault; text: the path.
  case notWhole = 91
  /// The same, and it will not be before the next lock: writing failed. detail: errno; text: the path.
  case wholeFailed = 92
  /// Another vault was last unlocked at this path. text: where this one was then; empty when this machine never
  /// saw it.
  case exchanged = 93

  /// The status a command ends with.
  public var exitStatus: ExitStatus {
    switch self {
    case .fault, .malformed, .unsupported, .outOfMemory, .newerFormat, .slotsFull, .tooLarge:
      .failure
    case .otherVersion, .stopping: .agent
    case .busy, .timedOut, .unconfirmed, .journalKept, .notWhole: .busy
    case .locked: .locked
    case .noVault, .notAVault: .noVault
    case .vaultExists, .exists, .revisionConflict, .notDeleted, .revisionCurrent: .exists
    case .damaged, .rolledBack, .forked, .exchanged: .integrity
    case .permissionDenied, .diskFull, .inputOutput, .wholeFailed: .inputOutput
    case .wrongPasscode, .wrongKey, .recoveryKeyTypo, .localErased: .wrongPasscode
    case .throttled: .throttled
    case .memoryNotLocked, .directoryUnsafe, .noSuchSlot, .kdfTooCostly, .kdfTooWeak, .denied,
      .lastSlot, .opensNoProtected:
      .denied
    case .protected, .ownerNeeded: .needsInteraction
    case .cancelled: .cancelled
    case .notFound, .attributeNotFound, .revisionNotFound, .slotNotFound, .notOTP: .notFound
    case .pathInvalid, .passcodeInvalid, .nameInvalid, .attributeInvalid, .valueEmpty,
      .configInvalid, .labelInvalid, .keyFileTooShort, .otpInvalid:
      .usage
    }
  }
}
