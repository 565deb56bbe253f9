// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

extension Diagnostic {
  /// Says what a refusal of the agent means to a person.
  init(_ refusal: Refusal) {
    let words = Self.words(refusal)
    self.init(words.message, hint: words.hint, refusal.failure.exitStatus)
  }

  /// Maps every refusal to its words: here, or in the function of that name.
  static func words(_ refusal: Refusal) -> Words {
    switch refusal {
    case .fault(let doing): faultWords(named(doing))
    case .unknown(let code):
      (
        "the agent refused it for a reason that this release does not know (code \(code))",
        "kura and kura-agent may be of two releases"
      )
    case .malformed:
      ("the agent did not understand the request", "kura and kura-agent may be of two releases")
    case .otherVersion:
      (
        "the agent is of another release and does not speak this one's protocol",
        "run 'kura agent stop', then try again"
      )
    case .unsupported(let what):
      ("this release does not do that" + named(what), "use the release that wrote the vault")
    case .stopping: ("the agent is ending", "try again")
    case .busy, .tooBusy: ("the agent or the vault is busy", "try again in a moment")
    case .compacting: compactingWords
    case .timedOut: ("it took too long", "try again in a moment")
    case .outOfMemory: (outOfMemory.message, outOfMemory.hint)
    case .memoryNotLocked: memoryNotLockedWords

    case .locked(let note): lockedWords(note)
    case .noVault(let path): ("there is no vault" + named(path), noVaultHint)
    case .notAVault(let path): ("this is not a vault" + named(path), notAVaultHint)
    case .newerFormat(let format, _): newerFormatWords(format)
    case .vaultExists(let path): ("a vault exists there already" + named(path), vaultExistsHint)
    case .damaged(let part): damagedWords(part)
    case .rolledBack(let copies):
      copyWords("the vault is an older copy: it is at epoch \(copies.epoch), seen was ", copies)
    case .forked(let copies):
      copyWords("the vault went another way than the one seen before: ", copies)
    case .exchanged(let last): exchangedWords(last)
    case .placeUnsafe(let flaw, let path): unsafeWords(flaw, path)
    case .permissionDenied(let flaw, let path): accessWords(flaw, path)
    case .diskFull(let path):
      ("the disk is full" + named(path), "free some space; nothing was changed")
    case .inputOutput(let errno, let path): inputOutputWords(errno, path)
    case .stateUnusable(let errno, let path): stateWords(errno, path)
    case .pathInvalid: ("the vault's path cannot be used", "name another with --vault")
    case .walKept: walKeptWords
    case .notWhole(let isHeld, let path): notWholeWords(path, isHeld: isHeld)
    case .wholeFailed(let errno, let path): wholeFailedWords(errno, path)
    case .backupRefused(let flaw, let path): backupRefusedWords(flaw, path)
    case .backupFailed(let errno, let path): backupFailedWords(errno, path)
    case .backupUnsound(let path): backupUnsoundWords(path)
    case .mergeRefused(let flaw, let path): mergeRefusedWords(flaw, path)
    case .copyUnsound(let path): copyUnsoundWords(path)
    case .maskerSilent: maskerSilentWords
    case .processGone(let process): processGoneWords(process)
    case .processUnfit(let process): processUnfitWords(process)
    case .confined(let flaw): confinedWords(flaw)

    case .wrongPasscode(let wrong):
      (wrong.isCode ? "wrong code" : "wrong passcode", wrongPasscodeHint(wrong))
    case .wrongKey(let credential): (wrongKeyMessage(credential), nil)
    case .recoveryKeyTypo(let typo):
      (typoMessage(typo), "look at it again, character by character")
    case .noSuchSlot(let credential): (noSlotMessage(credential), noSlotHint(credential))
    case .slotOfOtherKind(let number, let credential): otherKindWords(number, credential)
    case .throttled(let wait, let hasRecoveryKey):
      throttledWords(wait, hasRecoveryKey: hasRecoveryKey)
    case .triesNotKept: triesNotKeptWords
    case .eraseRuleDamaged: eraseRuleDamagedWords
    case .localErased(let failures): localErasedWords(failures)
    case .chipUnfit(let fault): chipWords(fault)
    case .chipLocked(let seconds): chipLockedWords(seconds)
    case .wrongPIN(let left): wrongPINWords(left)
    case .keyUntouched: keyUntouchedWords
    case .fingerWrong: fingerWrongWords
    case .fingerUnfit(let fault): fingerUnfitWords(fault)
    case .kdfTooCostly(let cost): tooCostlyWords(cost)
    case .kdfTooWeak(let floor):
      ("a guess would cost too little; the least is " + words(floor), "--weak-kdf allows less")
    case .passcodeInvalid(let rule): ("a passcode " + rule.text, nil)
    case .labelInvalid(let rule): ("a label " + rule.text, nil)
    case .keyFileTooShort(let least): ("a key file has at least \(least) bytes", nil)
    case .slotNotFound(let number):
      ("there is no slot \(number)", "'kura slot list' shows them")
    case .slotsFull(let limit): slotsFullWords(limit)
    case .slotTaken(let number):
      (
        "slot \(number) takes the same already",
        "another way to unlock takes another passcode or file"
      )
    case .recoveryKeyExists:
      (
        "the vault has a recovery key already",
        "'kura slot add --replace recovery-key' ends it and makes another"
      )
    case .lastSlot: lastSlotWords
    case .recoveryKeyNeeded: recoveryKeyNeededWords
    case .passcodesInStore: passcodesInStoreWords
    case .slotsAwaited: slotsAwaitedWords
    case .rekeyTakesPasscode:
      ("policy does not allow it: a new vault key takes the passcode", nil)
    case .slotsTakeOwner:
      ("policy does not allow it: a change of slots takes a passcode or recovery key", nil)
    case .protected(let item): protectedWords(item)
    case .opensNoProtected: opensNoProtectedWords
    case .ownerNeeded(let item): ownerNeededWords(item)
    case .historyFull(let item): historyFullWords(item)
    case .unconfirmed: unconfirmedWords
    case .cancelled(let lasting): cancelledWords(lasting)

    case .notFound(let item): ("no such item" + named(item), noSuchItemHint)
    case .attributeNotFound(let key):
      ("the item has no such attribute" + named(key), "'kura show NAME' lists them")
    case .revisionNotFound:
      ("no value is kept for that revision", "'kura history NAME' lists the revisions")
    case .exists(let revision, let item): existsWords(revision, item)
    case .revisionConflict(let current): (conflictMessage(current), "read it again, then decide")
    case .changedMeanwhile: ("the item was changed while it was read", "read it again")
    case .notDeleted(let revision, let item): notDeletedWords(revision, item)
    case .revisionCurrent: revisionCurrentWords
    case .nameInvalid(let rule): ("the name breaks a rule: a name " + rule.text, nil)
    case .attributeInvalid(let rule): ("the attributes break a rule: " + rule.text, nil)
    case .valueEmpty: ("the value is empty", "--empty stores it nevertheless")
    case .tooLarge(let limit): (sizeMessage(limit), nil)
    case .otpInvalid(let rule):
      (rule.text, "it looks like otpauth://totp/NAME?secret=JBSWY3DPEHPK3PXP")
    case .notOTP(let item):
      (
        "the item gives no one-time codes" + named(item),
        "'kura put --otp NAME' stores an otpauth URI"
      )
    case .settingUnknown:
      ("the agent does not know this setting", "'kura config' lists the settings")
    case .settingInvalid(let setting):
      (
        "this value is out of range for " + setting.name,
        "it is " + Config.range(of: setting)
      )
    }
  }

  /// `: ` and what a refusal is about, to stand at a message's end; nothing where it names nothing.
  static func named(_ subject: Refusal.Subject) -> String {
    subject.text.utf8.isEmpty ? "" : ": " + shown(subject.text)
  }

  private static func faultWords(_ what: String) -> Words {
    (
      "the agent met a fault of its own" + what,
      "if it happens again, report it; nothing was changed"
    )
  }

  private static var compactingWords: Words {
    ("the vault's file is being made shorter", "try again when 'kura verify --compact' has ended")
  }

  private static var maskerSilentWords: Words {
    (
      "the value was not handed out: the masked run above does not take it to mask it",
      "see whether that run is stopped; let it go on, then try again"
    )
  }

  private static func processGoneWords(_ process: UInt32) -> Words {
    (
      "no process" + numbered(process) + " is there, or it has just ended",
      "'ps' lists those there are; without --pid the grant is for the program that asks"
    )
  }

  private static func processUnfitWords(_ process: UInt32) -> Words {
    (
      "nothing is granted to process" + numbered(process)
        + ": a whole login, desktop or terminal is below it, or it is not yours",
      "'kura run --grant NAME -- CMD' grants to one command"
    )
  }

  private static func numbered(_ process: UInt32) -> String { process == 0 ? "" : " \(process)" }

  private static func confinedWords(_ flaw: RoomFlaw) -> Words {
    switch flaw {
    case .notServed:
      (
        "a room is not served this",
        "its owner lets it have items by name: 'kura run --sandbox --allow NAME -- CMD'"
      )
    case .otherVault:
      (
        "a room is served one vault alone, and this is another",
        "its owner chooses which: 'kura --vault V run --sandbox -- CMD'"
      )
    case .otherNamespace:
      (
        "the agent serves no programs in other containers than its own",
        "run this beside the agent; from a room there is a way to it: 'kura run --sandbox -- CMD'"
      )
    }
  }

  private static var memoryNotLockedWords: Words {
    (
      "memory could not be kept out of swap, as the agent was told to",
      "raise the limit on locked memory (ulimit -l)"
    )
  }

  private static func lockedWords(_ note: LockNote) -> Words {
    let locked = Diagnostic(locked: LockFacts(note))
    return (locked.message, locked.hint)
  }

  private static func newerFormatWords(_ format: UInt32) -> Words {
    (
      "the vault has format \(format), newer than this release",
      "use a newer kura; the file was not touched"
    )
  }

  private static func damagedWords(_ part: Refusal.Subject) -> Words {
    (
      "the vault is damaged or was tampered with" + named(part),
      "keep this file, and bring back a backup; 'kura verify' names all that is damaged"
    )
  }

  private static func inputOutputWords(_ errno: Int32, _ path: Refusal.Subject) -> Words {
    (
      "input or output failed" + named(path) + errorText(errno),
      "look after the disk; 'kura verify' tells whether the vault is whole"
    )
  }

  static let notAVaultHint =
    "if there was one, bring back a backup; else name another with --vault"
  static let vaultExistsHint = "it was not touched; name another with --vault"
  static let noVaultHint =
    "'kura init' makes it, or 'kura sync join STORE' of what another machine shares; "
    + "'kura vaults' lists those there are"

  static func errorText(_ errno: Int32) -> String {
    errno == 0 ? "" : " (" + SystemMessage.text(errno) + ")"
  }

  private static func copyWords(_ message: String, _ copies: Copies) -> Words {
    let when = copies.written == 0 ? "" : ", written " + Moment.local(copies.written)
    let place = copies.place == .none ? "" : " at " + shown(copies.place.text)
    return (
      message + "epoch \(copies.seen)" + when + place,
      "if you put this copy there yourself, run 'kura unlock --accept-rollback'"
    )
  }
}

extension Refusal.Subject {
  /// What is named; empty where nothing is.
  var text: String {
    switch self {
    case .text(let text): text
    case .none, .field: ""
    }
  }
}
