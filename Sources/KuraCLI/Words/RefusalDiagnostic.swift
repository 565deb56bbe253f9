// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

extension Diagnostic {
  /// Says what a refusal of the agent means to a person.
  init(_ refused: Refused) {
    let words = Self.words(refused)
    self.init(words.message, hint: words.hint, refused.failure.exitStatus)
  }

  /// Maps every failure to its words: here, or in the function of that name.
  static func words(_ refused: Refused) -> Words {
    switch refused.failure {
    case .fault: faultWords(refused)
    case .malformed:
      ("the agent did not understand the request", "kura and kura-agent may be of two releases")
    case .otherVersion:
      (
        "the agent is of another release and does not speak this one's protocol",
        "run 'kura agent stop', then try again"
      )
    case .unsupported:
      (
        "this release does not do that" + named(refused.text),
        "use the release that wrote the vault"
      )
    case .stopping: ("the agent is ending", "try again")
    case .busy: busyWords(refused)
    case .timedOut: ("it took too long", "try again in a moment")
    case .outOfMemory: (outOfMemory.message, outOfMemory.hint)
    case .memoryNotLocked: memoryNotLockedWords

    case .locked: lockedWords(refused)
    case .noVault: ("there is no vault" + named(refused.text), noVaultHint)
    case .notAVault: ("this is not a vault" + named(refused.text), notAVaultHint)
    case .newerFormat: newerFormatWords(refused)
    case .vaultExists: ("a vault exists there already" + named(refused.text), vaultExistsHint)
    case .damaged: damagedWords(refused)
    case .rolledBack, .forked: rollbackWords(refused)
    case .directoryUnsafe: unsafeWords(refused)
    case .permissionDenied: accessWords(refused)
    case .diskFull:
      ("the disk is full" + named(refused.text), "free some space; nothing was changed")
    case .inputOutput: inputOutputWords(refused)
    case .pathInvalid:
      ("the vault's path cannot be used" + named(refused.text), "name another with --vault")
    case .exchanged: exchangedWords(refused)
    case .notWhole: notWholeWords(refused)
    case .wholeFailed: wholeFailedWords(refused)

    case .wrongPasscode:
      (refused.isWrongCode ? "wrong code" : "wrong passcode", wrongPasscodeHint(refused))
    case .wrongKey: (wrongKeyMessage(refused.detail), nil)
    case .recoveryKeyTypo: (typoMessage(refused), "look at it again, character by character")
    case .noSuchSlot: noSuchSlotWords(refused)
    case .throttled: throttledWords(refused.detail, hasRecoveryKey: refused.detail2 == 1)
    case .passcodeInvalid:
      ("a passcode " + (PasscodeRule(rawValue: refused.number)?.text ?? "cannot be this one"), nil)
    case .kdfTooCostly: tooCostlyWords(refused)
    case .kdfTooWeak:
      ("a guess would cost too little; the least is " + cost(refused), "--weak-kdf allows less")
    case .protected: protectedWords(refused)
    case .cancelled: cancelledWords(refused)
    case .slotsFull: slotsFullWords(refused)
    case .denied: deniedWords(refused)
    case .slotNotFound:
      ("there is no slot \(refused.detail)", "'kura slot list' shows them")
    case .labelInvalid:
      ("a label " + (LabelRule(rawValue: refused.number)?.text ?? "cannot be this one"), nil)
    case .keyFileTooShort: ("a key file has at least \(refused.detail) bytes", nil)
    case .lastSlot: lastSlotWords
    case .opensNoProtected: opensNoProtectedWords
    case .ownerNeeded: ownerNeededWords(refused)
    case .unconfirmed: unconfirmedWords
    case .localErased: localErasedWords(refused)

    case .notFound: ("no such item" + named(refused.text), noSuchItemHint)
    case .attributeNotFound:
      ("the item has no such attribute" + named(refused.text), "'kura show NAME' lists them")
    case .revisionNotFound: revisionNotFoundWords(refused)
    case .exists: existsWords(refused)
    case .revisionConflict: (conflictMessage(refused.detail), "read it again, then decide")
    case .nameInvalid:
      (
        "the name breaks a rule: a name "
          + (NameRule(rawValue: refused.number)?.text ?? "is not like this"),
        nil
      )
    case .attributeInvalid:
      (
        "the attributes break a rule: "
          + (AttributeRule(rawValue: refused.number)?.text ?? "they are not like this"), nil
      )
    case .tooLarge: (sizeMessage(refused.detail), nil)
    case .valueEmpty: ("the value is empty", "--empty stores it nevertheless")
    case .configInvalid: settingWords(refused)
    case .otpInvalid:
      (
        OTPRule(rawValue: refused.number)?.text ?? "the otpauth URI cannot be used",
        "it looks like otpauth://totp/NAME?secret=JBSWY3DPEHPK3PXP"
      )
    case .notOTP:
      (
        "the item gives no one-time codes" + named(refused.text),
        "'kura put --otp NAME' stores an otpauth URI"
      )
    case .notDeleted: notDeletedWords(refused)
    case .revisionCurrent: revisionCurrentWords
    case .journalKept: journalKeptWords
    }
  }

  static func named(_ text: String) -> String {
    text.utf8.isEmpty ? "" : ": " + shown(text)
  }

  private static func faultWords(_ refused: Refused) -> Words {
    (
      "the agent met a fault of its own" + named(refused.text) + faultCode(refused),
      "if it happens again, report it; nothing was changed"
    )
  }

  /// A code that this release does not know is worth its number.
  private static func faultCode(_ refused: Refused) -> String {
    refused.code == refused.failure.rawValue ? "" : " (code \(refused.code))"
  }

  private static func busyWords(_ refused: Refused) -> Words {
    refused.detail == 1
      ? (
        "the vault's file is being made shorter", "try again when 'kura verify --compact' has ended"
      )
      : ("the agent or the vault is busy", "try again in a moment")
  }

  private static var memoryNotLockedWords: Words {
    (
      "memory could not be kept out of swap, as the agent was told to",
      "raise the limit on locked memory (ulimit -l)"
    )
  }

  private static func lockedWords(_ refused: Refused) -> Words {
    let locked = Diagnostic(locked: LockFacts(refused))
    return (locked.message, locked.hint)
  }

  private static func newerFormatWords(_ refused: Refused) -> Words {
    (
      "the vault has format \(refused.detail), newer than this release",
      "use a newer kura; the file was not touched"
    )
  }

  private static func damagedWords(_ refused: Refused) -> Words {
    (
      "the vault is damaged or was tampered with" + named(refused.text),
      "keep this file, and bring back a backup; 'kura verify' names all that is damaged"
    )
  }

  private static func inputOutputWords(_ refused: Refused) -> Words {
    if refused.detail2 == 1 { return stateWords(refused) }
    return (
      "input or output failed" + named(refused.text) + errorText(refused.detail),
      "look after the disk; 'kura verify' tells whether the vault is whole"
    )
  }

  static let notAVaultHint =
    "if there was one, bring back a backup; else name another with --vault"
  static let vaultExistsHint = "it was not touched; name another with --vault"
  static let noVaultHint = "'kura init' makes it; 'kura vaults' lists those there are"

  static func errorText(_ number: UInt64) -> String {
    number == 0 ? "" : " (" + SystemMessage.text(Int32(truncatingIfNeeded: number)) + ")"
  }

  private static func rollbackWords(_ refused: Refused) -> Words {
    let when = refused.detail3 == 0 ? "" : ", written " + Moment.local(refused.detail3)
    let place = refused.text.utf8.isEmpty ? "" : " at " + shown(refused.text)
    let newer = "epoch \(refused.detail)" + when + place
    let message =
      refused.failure == .rolledBack
      ? "the vault is an older copy: it is at epoch \(refused.detail2), seen was " + newer
      : "the vault went another way than the one seen before: " + newer
    return (
      message,
      "if you put this copy there yourself, run 'kura unlock --accept-rollback'"
    )
  }
}

extension Refused {
  /// The detail as the number of a rule, a setting or a credential.
  var number: UInt8 { UInt8(truncatingIfNeeded: detail) }
}
