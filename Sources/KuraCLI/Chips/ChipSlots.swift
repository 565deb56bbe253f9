// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Looks whether the vault's slots of a TPM take a code.
enum ChipSlots {
  /// Whether one of them does; also where there is none, which the agent tells.
  static func takeCode(_ access: VaultAccess) throws(CommandError) -> Bool {
    var connection = try access.connect()
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    let own = slots.filter { $0.facts.kind == .tpm2 && !$0.facts.isDisabled }
    return own.isEmpty || own.contains { $0.facts.takesCode }
  }
}

extension SlotFacts {
  /// Whether something is typed for it.
  var takesCode: Bool { cost != .calibrated }

  /// Whether it takes a code for a TPM.
  var takesChipCode: Bool { kind == .tpm2 && takesCode }
}

extension VaultAccess {
  /// The question for a code for this machine's TPM, to be asked in place of the one for the passcode.
  func chipSwap(_ report: StatusReport, _ purpose: Purpose?) -> Question.Swap {
    Question.Swap(
      label: question(.tpm, to: purpose).label, kind: .tpm, wait: report.wait(.tpm))
  }

  /// What may be asked for in place of the passcode.
  ///
  /// - Parameter use: What an answer is for.
  /// - Returns: The ways of slots that are here and do; none where it is not the passcode that is asked for.
  func swaps(
    for use: AnswerUse, _ kind: Credential, _ report: StatusReport, _ purpose: Purpose?,
    _ connection: inout Connection
  ) throws(CommandError) -> [Question.Swap] {
    guard kind == .passcode else { return [] }
    let slots = try running { () throws(ClientError) in try connection.slots().all }
      .filter { $0.facts.flags.isSuperset(of: [.enabled, .withProtected]) }
    var swaps: [Question.Swap] = []
    if slots.contains(where: { $0.facts.takesChipCode && $0.facts.availability == .here }) {
      swaps.append(chipSwap(report, purpose))
    }
    let hasKey = slots.contains { slot in
      slot.facts.kind == .fido2 && (slot.facts.isVerified || use == .reading)
    }
    guard hasKey, let key = try KeyTouch.facts(&connection, messages) else { return swaps }
    swaps.append(
      Question.Swap(
        label: question(.fido2, to: purpose).label, kind: .fido2, isTouched: !key.takesPIN))
    return swaps
  }
}

/// Says what an answer is for.
enum AnswerUse {
  /// To read what is protected.
  case reading
  /// To have the owner agree, for whom a security key stands only where it makes sure who touches it.
  case owning
}
