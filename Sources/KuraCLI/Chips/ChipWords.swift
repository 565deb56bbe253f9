// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Diagnostic {
  static let otherWay = "unlock with the passcode or recovery key"

  /// Why a TPM, or a security key, did not do what a slot needs.
  static func chipWords(_ fault: ChipFault) -> Words {
    switch fault.kind {
    case .noProgram:
      (
        "kura-hardware, which speaks to a TPM and to security keys, is not here",
        "install it, and end the agent by 'kura agent stop'; until then " + otherWay
      )
    case .programFailed:
      (
        "kura-hardware, which speaks to the hardware, ended without an answer",
        "try once more, or " + otherWay
      )
    case .noChip: ("this machine has no TPM 2.0 that answers", otherWay)
    case .denied:
      (
        "you may not use this machine's TPM: /dev/tpmrm0 is of another group, mostly tss",
        "have yourself added to that group, and log in again; until then " + otherWay
      )
    case .busy: ("somebody else has this machine's TPM", "try again in a moment")
    case .other:
      (
        "the slot is of another machine's TPM, or this one was cleared; no code was tried",
        otherWay + "; 'kura slot add tpm' makes a slot of this TPM"
      )
    case .wrong: ("wrong code", nil)
    case .lockedOut: chipLockedWords(fault.number)
    case .owned:
      (
        "this TPM has an owner's password, and no storage key at the usual place",
        "have its administrator make one at 0x81000001"
      )
    case .unlimited:
      (
        "this TPM does not limit how often codes are tried, so a short one holds nobody off",
        "take one of \(fault.number) characters or more"
      )
    case .failed:
      ("the TPM failed, with number \(fault.number) of TSS", "try again, or " + otherWay)
    case .noKey, .otherKey, .severalKeys, .noSecrets, .pinNeeded, .noPIN, .wrongPIN, .lastPIN,
      .pinPaused, .untouched, .declined, .unverified, .otherManner, .keyGone, .keyFailed:
      keyWords(fault)
    }
  }

  /// How long a TPM takes no code.
  static func chipLockedWords(_ seconds: UInt32) -> Words {
    (
      "this machine's TPM has counted too many wrong codes, here or elsewhere; none was tried",
      "the next try is possible in " + wait(UInt64(seconds) * 1_000) + "; until then " + otherWay
    )
  }

  /// What a thief can do with a slot of a TPM, said apart.
  static func thiefWords(_ facts: ChipFacts, takesCode: Bool) -> [String] {
    guard takesCode else {
      return [
        "a stolen disk opens nothing; a stolen machine opens the vault for whoever gets into this account"
      ]
    }
    let tries =
      facts.isLimited
      ? "\(facts.mostFailures) codes, then one each " + wait(UInt64(facts.interval) * 1_000)
      : "codes as fast as the TPM is"
    return [
      "a stolen disk holds nothing to guess at",
      "who has the whole machine can try " + tries
        + (facts.hasLockoutPassword
          ? "" : ", and set the count back: the TPM has no lockout password"),
    ]
  }
}
