// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Finds the words for what is about credentials or items.
extension Diagnostic {
  static func noSuchSlotWords(_ refused: Refused) -> Words {
    let kind = Credential(rawValue: refused.number)
    guard refused.detail2 > 0 else { return (noSlotMessage(kind), noSlotHint(kind)) }
    return (
      "slot \(refused.detail2 - 1) is not of kind " + (kind?.word ?? "that is shown"),
      "'kura slot list' shows what opens it"
    )
  }

  static func tooCostlyWords(_ refused: Refused) -> Words {
    (
      "a guess would cost " + cost(refused) + ", more than is safe to try here",
      "unlock with another credential, or where there is more memory"
    )
  }

  static func protectedWords(_ refused: Refused) -> Words {
    (
      (refused.text.utf8.isEmpty ? "this item" : shown(refused.text))
        + " asks for the passcode at each read",
      "run it at a terminal, or give the passcode with --passcode-file"
    )
  }

  static func cancelledWords(_ refused: Refused) -> Words {
    guard refused.detail > 0 else {
      return ("cancelled at the prompt that this command waited for", nil)
    }
    return (
      "cancelled: the prompt for this vault was cancelled a moment ago",
      "try again in a few seconds"
    )
  }

  static func slotsFullWords(_ refused: Refused) -> Words {
    let kind = refused.detail == 16 ? " slots" : " slots that take a passcode or a code"
    return (
      "the vault has no room for another slot: \(refused.detail)" + kind + " are the most",
      "'kura slot remove N' makes room"
    )
  }

  static func deniedWords(_ refused: Refused) -> Words {
    if refused.text == "tries-not-kept" {
      return (
        "a short code is not tried while wrong ones cannot be counted",
        "make room on the disk, or unlock with the passcode"
      )
    }
    if refused.text == "erase-rule-damaged" {
      return (
        "no code is tried: what says when this machine's secret for it is destroyed is damaged",
        "unlock with the passcode or the recovery key, which writes it anew"
      )
    }
    return ("policy does not allow it" + named(refused.text), nil)
  }

  static var lastSlotWords: Words {
    (
      "without this slot nobody could open the vault on another machine",
      "add a passcode or a recovery key first"
    )
  }

  static var opensNoProtectedWords: Words {
    (
      "this opens the vault, but no protected values",
      "give the passcode or, with --recovery-key, the recovery key; "
        + "'kura slot add passcode' adds a passcode"
    )
  }

  static func revisionNotFoundWords(_ refused: Refused) -> Words {
    (
      "no value is kept for that revision"
        + (refused.detail == 0 ? "" : "; the current one is \(refused.detail)"),
      "'kura history NAME' lists the revisions"
    )
  }

  static func existsWords(_ refused: Refused) -> Words {
    if refused.text == "recovery key", refused.detail == 0 {
      return ("the vault has a recovery key already", "--replace ends it and makes another")
    }
    if refused.text == "slot", refused.detail == 0 {
      return (
        "slot \(max(refused.detail2, 1) - 1) takes the same already",
        "another way to unlock takes another passcode or file"
      )
    }
    return (
      "the item exists" + named(refused.text) + " (revision \(refused.detail))",
      "--replace puts the new one in its place; the old one can be brought back"
    )
  }

  static func settingWords(_ refused: Refused) -> Words {
    guard let key = Setting(rawValue: refused.number) else {
      return ("the agent does not know this setting", "'kura config' lists the settings")
    }
    return ("this value is out of range for " + key.name, "it is " + Config.range(of: key))
  }

  static let noSuchItemHint =
    "'kura list' shows the names there are, 'kura list --deleted' those that were removed"

  static func notDeletedWords(_ refused: Refused) -> Words {
    (
      "the item is not deleted" + named(refused.text) + " (revision \(refused.detail))",
      "--revision brings an earlier one back; 'kura history NAME' lists them"
    )
  }

  static var revisionCurrentWords: Words {
    (
      "this is the current revision, not an earlier one",
      "'kura purge NAME' removes the item; store another value to make this an earlier one"
    )
  }

  static var journalKeptWords: Words {
    (
      "it is gone from the vault, but not yet from its journal, which another program reads",
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

  static func wrongPasscodeHint(_ refused: Refused) -> String? {
    let hasRecoveryKey = refused.detail3 & 1 > 0
    if refused.isUntakenCode {
      return "a code changes no slot: give the passcode"
        + (hasRecoveryKey ? " or --recovery-key" : "")
        + (refused.detail2 > 0 ? "; the next try is possible in " + wait(refused.detail2) : "")
    }
    guard refused.detail2 > 0 else {
      return hasRecoveryKey ? Self.withoutPasscode : nil
    }
    return "the next try is possible in " + wait(refused.detail2)
  }

  static func wrongKeyMessage(_ kind: UInt64) -> String {
    switch Credential(rawValue: UInt8(truncatingIfNeeded: kind)) {
    case .recoveryKey: "this recovery key does not open the vault"
    case .keyFile: "this key file does not open the vault"
    case .passcode, .local, nil: "this does not open the vault any more"
    }
  }

  /// A wait is rounded up: who tries a moment early would wait again.
  static func wait(_ milliseconds: UInt64) -> String {
    TimeSpan(milliseconds: (milliseconds + 999) / 1_000 * 1_000).words
  }

  private static func noSlotMessage(_ kind: Credential?) -> String {
    switch kind {
    case .recoveryKey: "the vault has no recovery key"
    case .keyFile: "the vault has no key file"
    case .passcode: "the vault has no passcode"
    case .local: "no code for this machine opens the vault: its secret is not here"
    case nil: "the vault has no such way to unlock it"
    }
  }

  /// There is always a passcode or a recovery key.
  private static func noSlotHint(_ kind: Credential?) -> String {
    switch kind {
    case .passcode:
      "'kura unlock --recovery-key' opens it; 'kura passcode' gives it a passcode again"
    case .recoveryKey: "unlock it with the passcode"
    case .keyFile, .local, nil: "unlock it with the passcode or recovery key"
    }
  }

  static func typoMessage(_ refused: Refused) -> String {
    if refused.detail2 > 0 { return countMessage(refused.detail2) }
    return refused.detail == 0
      ? "the recovery key has a typing error"
      : "the recovery key has a typing error in group \(refused.detail)"
  }

  private static func countMessage(_ count: UInt64) -> String {
    "it has \(count) character" + (count == 1 ? "" : "s") + ", a recovery key has 36"
  }

  static func cost(_ refused: Refused) -> String {
    let passes = refused.detail2 == 1 ? "1 pass" : "\(refused.detail2) passes"
    guard refused.detail > 0 else { return refused.detail2 == 0 ? "too much" : passes }
    let memory = ByteSize(count: refused.detail).words
    return refused.detail2 == 0 ? memory : memory + " and " + passes
  }

  /// The cost that was asked for when a vault was to be made.
  static func newCostWords(_ refused: Refused) -> Words {
    (
      "no vault is made at this cost of a guess: " + cost(refused),
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

extension Refused {
  /// Whether the wrong passcode could be a code for this machine, which is not taken here.
  var isUntakenCode: Bool { failure == .wrongPasscode && detail3 & 2 > 0 }

  /// Whether nothing but a code could have been right.
  var isWrongCode: Bool { failure == .wrongPasscode && detail3 & 4 > 0 }
}
