// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds what was proved for new keys, and which slots go over to them, and which do not.
struct ShownSlots: ~Copyable {
  let passcode: SecretBytes
  /// The code for this machine's TPM, without bytes for a slot that takes none; nil where no slot of it goes over.
  let code: SecretBytes?
  /// The PIN of a security key, without bytes for one that takes none; nil where no slot of one goes over.
  let pin: SecretBytes?
  /// The slot of that.
  let keySlot: UInt8
  let dropped: [Slot]
  let title: String

  /// The slots that do not go over, one a line.
  var droppedLines: [String] {
    dropped.map { slot in
      let label = slot.label.utf8.isEmpty ? "" : " " + Diagnostic.shown(slot.label)
      return "  \(slot.facts.number) " + slot.facts.kind.name + label
    }
  }

  /// Proves the passcode, the key file, the code for the TPM and the security key, and unlocks the vault in this engine
  /// where it is locked.
  ///
  /// - Parameter takesChips: Whether slots of this machine's TPM, and of a security key, can go over; they do where that was
  ///   said.
  static func prove(
    _ access: VaultAccess, _ keyFile: borrowing SecretBytes?, _ questioner: inout Questioner,
    _ connection: inout Connection, takesChips: Bool = false
  ) throws(CommandError) -> ShownSlots {
    if takesChips { try checkChips(access.asking.arguments) }
    let known = try running { () throws(ClientError) in try connection.slots().all }
    guard known.contains(where: { $0.facts.kind == .passcode }) else { throw .noPasscode }
    let credential = try ProvedCredential.take(
      access, &questioner, &connection, as: .passcode)
    let secret = credential.secret
    var kept = [
      try running { () throws(ClientError) in
        try connection.testSlot(nil, .passcode, secret: secret)
      }
    ]
    // What opens as a passcode may be a code.
    guard !known.contains(where: { $0.facts.kind == .local && kept.contains($0.facts.number) })
    else { throw .codeForPasscode }
    switch keyFile {
    case .some(let file):
      kept.append(
        try running { () throws(ClientError) in
          try connection.testSlot(nil, .keyFile, secret: file)
        })
    case .none: break
    }
    var code: SecretBytes?
    if takesChips, access.asking.arguments.has(.tpm) {
      code = try prove(access, known, keeping: &kept, &questioner, &connection)
    }
    var pin: SecretBytes?
    if takesChips, access.asking.arguments.has(.fido2) {
      pin = try KeyTouch.prove(access, keeping: &kept, &questioner, &connection)
    }
    let keySlot = kept.last ?? 0
    if try running({ () throws(ClientError) in try connection.status().state }) != .unlocked {
      // The session stays locked: an engine of this command's own does it.
      connection = try access.connectOwn()
      try running { () throws(ClientError) in
        _ = try connection.unlock(.passcode, secret: secret)
      }
    }
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    return ShownSlots(
      passcode: secret, code: code, pin: pin, keySlot: keySlot,
      dropped: slots.filter { !kept.contains($0.facts.number) }, title: access.title)
  }
}

// MARK: - Slots of a TPM

extension ShownSlots {
  private static func checkChips(_ arguments: Arguments) throws(CommandError) {
    for (option, owner) in [
      (.codeFD, .tpm), (.codeFile, .tpm), (.pinFD, .fido2), (.pinFile, .fido2),
    ] as [(OptionName, OptionName)] where arguments.has(option) && !arguments.has(owner) {
      throw .usage(
        option.spelling + " says nothing without " + owner.spelling,
        hint: "'kura help rekey' tells more")
    }
  }

  /// Has the code proved for this machine's TPM, where a slot takes one, and finds the one that takes none.
  ///
  /// - Returns: The code; without bytes where none of the slots takes one.
  private static func prove(
    _ access: VaultAccess, _ slots: [Slot], keeping kept: inout [UInt8],
    _ questioner: inout Questioner, _ connection: inout Connection
  ) throws(CommandError) -> SecretBytes {
    let own = slots.filter { $0.facts.kind == .tpm2 && !$0.facts.isDisabled }
    guard own.contains(where: { $0.facts.takesCode }) else {
      let nothing = try allocating { () throws(SecureMemoryError) in try SecretBytes(count: 0) }
      kept.append(
        try running { () throws(ClientError) in
          try connection.testSlot(nil, .tpm, secret: nothing)
        })
      return nothing
    }
    let code = try proveCode(access, keeping: &kept, &questioner, &connection)
    guard own.contains(where: { !$0.facts.takesCode }) else { return code }
    let nothing = try allocating { () throws(SecureMemoryError) in try SecretBytes(count: 0) }
    do throws(ClientError) {
      kept.append(try connection.testSlot(nil, .tpm, secret: nothing))
    } catch {
      // Another machine's stays behind.
      guard case .refused(.chipUnfit(let fault)) = error, fault.kind == .other else {
        throw .client(error)
      }
    }
    return code
  }

  /// Takes the code that a script hands over, or asks for it.
  private static func proveCode(
    _ access: VaultAccess, keeping kept: inout [UInt8], _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> SecretBytes {
    if let given = try access.asking.secret(.codeFD, .codeFile) {
      kept.append(
        try running { () throws(ClientError) in
          try connection.testSlot(nil, .tpm, secret: given)
        })
      return given
    }
    guard questioner.canAsk else { throw .noInteraction(.chipCode) }
    questioner.renew()
    var opened: UInt8 = 0
    let code = try ProvedCredential.ask(access, &questioner, &connection, .tpm) {
      kind, secret, connection throws(ClientError) in
      opened = try connection.testSlot(nil, kind, secret: secret)
      return nil
    }
    kept.append(opened)
    return code
  }
}
