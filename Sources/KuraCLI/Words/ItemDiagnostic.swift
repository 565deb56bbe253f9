// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Finds the words for what is about credentials or items.
extension Diagnostic {
  static func otherKindWords(_ number: UInt8, _ credential: Credential) -> Words {
    (
      "slot \(number) is not of kind " + credential.word,
      "'kura slot list' shows what opens it"
    )
  }

  static func tooCostlyWords(_ cost: KDFParameters) -> Words {
    (
      "a guess would cost " + words(cost) + ", more than is safe to try here",
      "unlock with another credential, or where there is more memory"
    )
  }

  static func protectedWords(_ item: Refusal.Subject) -> Words {
    (
      (item == .none ? "this item" : shown(item.text))
        + " asks for the passcode at each read",
      "it needs its owner: at a terminal, by --passcode-file, or with --wait while 'kura approve' runs"
        + " at another one"
    )
  }

  static func cancelledWords(_ lasting: UInt64) -> Words {
    guard lasting > 0 else {
      return ("cancelled at the prompt that this command waited for", nil)
    }
    guard lasting <= 2_000 else {
      return (
        "cancelled: its owner has said no",
        "this is not asked for again for "
          + TimeSpan(milliseconds: (lasting + 999) / 1_000 * 1_000).words
      )
    }
    return (
      "cancelled: the prompt for this vault was cancelled a moment ago",
      "try again in a few seconds"
    )
  }

  static func slotsFullWords(_ limit: Int) -> Words {
    let kind = limit == 16 ? " slots" : " slots that take a passcode or a code"
    return (
      "the vault has no room for another slot: \(limit)" + kind + " are the most",
      "'kura slot remove N' makes room"
    )
  }

  static var triesNotKeptWords: Words {
    (
      "a short code is not tried while wrong ones cannot be counted",
      "make room on the disk, or unlock with the passcode"
    )
  }

  static var eraseRuleDamagedWords: Words {
    (
      "no code is tried: what says when this machine's secret for it is destroyed is damaged",
      "unlock with the passcode or the recovery key, which writes it anew"
    )
  }

  static var lastSlotWords: Words {
    (
      "without this slot nobody could open the vault on another machine",
      "add a passcode or a recovery key first"
    )
  }

  static var recoveryKeyNeededWords: Words {
    (
      "the store gets the recovery key alone, and there is none, or would be none: no other machine could go on by that",
      "'kura slot add recovery-key' makes one, and with --replace another one in its place"
    )
  }

  static var passcodesInStoreWords: Words {
    (
      "passcodes of the vault are in the store, or would get there: it cannot be shared by the recovery key alone as it is",
      "'kura clone OUT' makes another vault of it, and 'kura --vault OUT sync init --slots recovery dir:FOLDER' shares that"
    )
  }

  static var slotsAwaitedWords: Words {
    (
      "nothing was changed: which machine made which way to open the vault has not come from the store yet",
      "'kura sync' brings it; if the machine that gave the vault its key is lost, 'kura sync devices --remove NAME' gives another"
    )
  }

  static var opensNoProtectedWords: Words {
    (
      "this opens the vault, but no protected values",
      "give the passcode or, with --recovery-key, the recovery key; "
        + "'kura slot add passcode' adds a passcode"
    )
  }

  static func existsWords(_ revision: UInt64, _ item: Refusal.Subject) -> Words {
    (
      "the item exists" + named(item) + " (revision \(revision))",
      "--replace puts the new one in its place; the old one can be brought back"
    )
  }

  static let noSuchItemHint =
    "'kura list' shows the names there are, 'kura list --deleted' those that were removed"

  static func notDeletedWords(_ revision: UInt64, _ item: Refusal.Subject) -> Words {
    (
      "the item is not deleted" + named(item) + " (revision \(revision))",
      "--revision brings an earlier one back; 'kura history NAME' lists them"
    )
  }

  static var revisionCurrentWords: Words {
    (
      "what stands now is no earlier revision: the current one, and in a conflict those beside it",
      "'kura conflicts NAME' settles a conflict; another value makes the current revision an earlier one; "
        + "'kura purge NAME' removes the item"
    )
  }

  static var walKeptWords: Words {
    (
      "it is gone from the vault, but not yet from the WAL beside its file, which another program reads",
      "it goes when the vault is locked; 'kura lock' does that"
    )
  }

  static func throttledWords(_ milliseconds: UInt64, hasRecoveryKey: Bool) -> Words {
    guard milliseconds < TryReport.untilPasscode else {
      return (
        "too many wrong key files; none is taken until the passcode has worked",
        "unlock with the passcode"
      )
    }
    return (
      "too many wrong passcodes; the next try is possible in " + wait(milliseconds),
      hasRecoveryKey ? "a recovery key is taken at once: 'kura unlock --recovery-key'" : nil
    )
  }

  private static let withoutPasscode =
    "'kura unlock --recovery-key' opens the vault without it, and 'kura get --recovery-key NAME' a protected value"

  static func wrongPasscodeHint(_ wrong: WrongPasscode) -> String? {
    let nextTry = "the next try is possible in " + wait(wrong.wait)
    if wrong.isUntakenCode {
      return "a code changes no slot: give the passcode"
        + (wrong.hasRecoveryKey ? " or --recovery-key" : "")
        + (wrong.wait > 0 ? "; " + nextTry : "")
    }
    guard wrong.wait > 0 else { return wrong.hasRecoveryKey ? Self.withoutPasscode : nil }
    return nextTry
  }

  static func wrongKeyMessage(_ credential: Credential?) -> String {
    switch credential {
    case .recoveryKey: "this recovery key does not open the vault"
    case .keyFile: "this key file does not open the vault"
    case .passcode, .local, .tpm, .fido2, nil: "this does not open the vault any more"
    }
  }

  /// A wait is rounded up: who tries a moment early would wait again.
  static func wait(_ milliseconds: UInt64) -> String {
    TimeSpan(milliseconds: (min(milliseconds, TimeSpan.year) + 999) / 1_000 * 1_000).words
  }

  static func noSlotMessage(_ kind: Credential) -> String {
    switch kind {
    case .recoveryKey: "the vault has no recovery key"
    case .keyFile: "the vault has no key file"
    case .passcode: "the vault has no passcode"
    case .local: "no code for this machine opens the vault: its secret is not here"
    case .tpm: "no slot of the vault is of a TPM and of this kind, with a code or without one"
    case .fido2: "no slot of the vault is of a security key"
    }
  }

  /// There is always a passcode or a recovery key.
  static func noSlotHint(_ kind: Credential) -> String {
    switch kind {
    case .passcode:
      "'kura unlock --recovery-key' opens it; 'kura passcode --recovery-key' gives it one again"
    case .recoveryKey: "unlock it with the passcode"
    case .keyFile, .local, .tpm, .fido2: "unlock it with the passcode or recovery key"
    }
  }

  static func typoMessage(_ typo: RecoveryKeyTypo) -> String {
    switch typo {
    case .anywhere: "the recovery key has a typing error"
    case .group(let group): "the recovery key has a typing error in group \(group)"
    case .length(let count): lengthMessage(count)
    }
  }

  static func lengthMessage(_ count: UInt32) -> String {
    "it has \(count) character" + (count == 1 ? "" : "s") + ", a recovery key has 36"
  }

  static func words(_ cost: KDFParameters) -> String {
    let passes = cost.passes == 1 ? "1 pass" : "\(cost.passes) passes"
    guard cost.memory > 0 else { return cost.passes == 0 ? "too much" : passes }
    let memory = ByteSize(count: cost.memory).words
    return cost.passes == 0 ? memory : memory + " and " + passes
  }

  /// The cost that was asked for when a vault was to be made.
  static func newCostWords(_ cost: KDFParameters) -> Words {
    (
      "no vault is made at this cost of a guess: " + words(cost),
      "--kdf-memory is 8KiB to 2GiB in whole KiB, less where memory is short; "
        + "--kdf-passes is 1 to 16"
    )
  }

  static func conflictMessage(_ current: UInt64) -> String {
    current == 0
      ? "there is no such item, so it has no revision"
      : "the item has changed: its revision is \(current)"
  }

  static func sizeMessage(_ limit: UInt64) -> String {
    limit == 0 ? "it is too large" : "it is too large: the limit is " + ByteSize(count: limit).words
  }
}
