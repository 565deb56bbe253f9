// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

extension Diagnostic {
  static let otherWay = "unlock with the passcode or recovery key"

  /// Why a TPM, or a security key, did not do what a slot needs.
  ///
  /// - Parameter opens: Whether a vault was to be opened, which goes by other slots as well.
  static func chipWords(_ fault: ChipFault, opens: Bool = true) -> Words {
    switch fault.kind {
    case .noProgram:
      (
        "kura-hardware, which speaks to a TPM and to security keys, is not here",
        "install it, and end the agent by 'kura agent stop'"
          + (opens ? "; until then " + otherWay : "")
      )
    case .programFailed:
      (
        "kura-hardware, which speaks to the hardware, ended without an answer",
        "try once more" + (opens ? ", or " + otherWay : "")
      )
    case .noChip:
      (
        "this machine has no TPM 2.0 that answers",
        opens ? otherWay : "look in the firmware's setup whether it is switched off"
      )
    case .denied: chipDeniedWords(fault.number, opens)
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
      (
        "the TPM failed, with number \(fault.number) of TSS",
        "try again" + (opens ? ", or " + otherWay : "")
      )
    case .noKey, .otherKey, .severalKeys, .noSecrets, .pinNeeded, .noPIN, .wrongPIN, .lastPIN,
      .pinPaused, .untouched, .declined, .unverified, .otherManner, .keyGone, .keyFailed,
      .keyDenied:
      keyWords(fault)
    }
  }

  /// Who may use the TPM where we may not.
  private static func chipDeniedWords(_ group: UInt32, _ opens: Bool) -> Words {
    let rest = opens ? "; until then " + otherWay : ""
    guard group > 0 else {
      return (
        "you may not use this machine's TPM: its device is root's alone",
        "have its administrator give it to a group, mostly tss, and add you" + rest
      )
    }
    let name = (try? System.groupName(group)) ?? []
    return (
      "you may not use this machine's TPM: its device is of group "
        + (name.isEmpty ? "\(group)" : shown(name)),
      "have yourself added to that group, and log in again" + rest
    )
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

extension CommandError {
  /// Why a slot was not made, or not put back into use.
  static func adding(_ kind: Credential, _ error: ClientError) -> CommandError {
    guard case .refused(let refusal) = error else { return .client(error) }
    if case .chipUnfit(let fault) = refusal {
      let words = Diagnostic.chipWords(fault, opens: false)
      return .failure(words.message, hint: words.hint, refusal.failure.exitStatus)
    }
    guard kind == .tpm, case .slotTaken(let number) = refusal else { return .client(error) }
    return .failure(
      "slot \(number) has a code for this TPM, which would count a second one's as wrong",
      hint: "'kura passcode --tpm' changes it, 'kura slot remove \(number)' ends it", .exists)
  }
}
