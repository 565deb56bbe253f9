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

  /// The same for what takes the owner, or opens protected values; nil where no slot of this machine's TPM does.
  func ownerSwap(
    _ kind: Credential, _ report: StatusReport, _ purpose: Purpose?, _ connection: inout Connection
  ) throws(CommandError) -> Question.Swap? {
    guard kind == .passcode, report.tries.contains(where: { $0.kind == .tpm }) else { return nil }
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    let isHere = slots.contains { slot in
      slot.facts.takesChipCode && slot.facts.availability == .here
        && slot.facts.flags.isSuperset(of: [.enabled, .withProtected])
    }
    return isHere ? chipSwap(report, purpose) : nil
  }
}
