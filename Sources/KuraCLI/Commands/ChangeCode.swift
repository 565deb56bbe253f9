// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// `kura passcode` where it changes the code for this machine, or for its TPM.
extension Passcode {
  /// Whether the code is to be changed: because that was said, or because there is no passcode and no
  /// recovery key was named to set one. A person hears which of both it is.
  static func wantsCode(
    _ access: VaultAccess, _ questioner: inout Questioner, _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    let slots = try running { () throws(ClientError) in try connection.slots().all }
      .filter { !$0.facts.isDisabled }
    let hasCode = slots.contains { $0.facts.kind == .local }
    let hasPasscode = slots.contains { $0.facts.kind == .passcode }
    if access.asking.arguments.has(.tpm) {
      guard slots.contains(where: { $0.facts.takesChipCode }) else { throw .noChipCode }
      return true
    }
    if access.asking.arguments.has(.local) {
      guard hasCode else { throw .noCode }
      return true
    }
    guard hasCode, access.asking.kind == .passcode else { return false }
    questioner.prompt?.say(
      hasPasscode
        ? "This changes the passcode; with --local it changes the code of this machine."
        : "This changes the code of this machine; with --recovery-key it sets a passcode.")
    return !hasPasscode
  }

  /// Puts another code in the place of the one there is: who knows it may.
  static func changeCode(
    _ access: VaultAccess, _ questioner: inout Questioner, _ connection: inout Connection,
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let isOfChip = arguments.has(.tpm)
    let cost = try parsing { () throws(UsageError) in
      for option in [.newRecoveryKeyFile, .rotate, .weakPasscode] as [OptionName] {
        guard !arguments.has(option) else { throw .conflict(isOfChip ? .tpm : .local, option) }
      }
      try arguments.refuse(.local, with: .recoveryKey, .recoveryKeyFile, .tpm)
      try arguments.refuse(.tpm, with: .recoveryKey, .recoveryKeyFile)
      return try arguments.cost()
    }
    let given = try access.asking.secret(.newPasscodeFD, .newPasscodeFile)
    let credential = try ProvedCredential.take(
      access, &questioner, &connection, as: isOfChip ? .tpm : .local,
      provingGiven: given == nil && questioner.canAsk)
    let code = try SlotAdding.newCode(
      given: given, orNeeds: .newPasscode, &questioner, isOfChip: isOfChip)
    try running { () throws(ClientError) in
      try connection.changePasscode(
        credential.kind, current: credential.secret, new: code, cost: cost,
        flags: arguments.has(.weakKDF) ? .weakKDF : []
      ) { _ in true }
    }
    invocation.messages.done(
      isOfChip
        ? "the code for this machine's TPM is changed" : "the code of this machine is changed")
    return .ok
  }
}

extension CommandError {
  fileprivate static let noChipCode = CommandError.failure(
    "no slot of the vault takes a code for a TPM", hint: "'kura slot add tpm' adds one", .denied)
}
