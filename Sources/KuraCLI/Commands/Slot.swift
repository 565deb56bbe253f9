// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura slot`: adds, shows, disables and removes the ways to unlock the vault, each independent of the
/// others.
enum SlotControl {
  static let command = Command(
    "slot", [.init("list|add|remove|disable|enable|test"), .init("KIND|N", .optional)],
    abstract: "list, add, remove, disable, enable or try the ways to unlock the vault",
    options: [
      Option(.long, letter: "l", help: "with what each slot gives a thief"), Option.json,
      Option(.label, .required("TEXT"), help: "call the new slot TEXT"),
      Option(.newPasscodeFD, .required("N"), help: "read the new passcode from descriptor N"),
      Option(.newPasscodeFile, .required("FILE"), help: "read the new passcode from FILE"),
      Option(.newRecoveryKeyFile, .required("OUT"), help: "write a new recovery key to OUT"),
      Option(.replace, help: "end the recovery key that is there"),
      Option(.auto, help: "have this machine try the key file by itself"),
      Option(.submit, help: "send the code at its last character"),
      Option(.noCode, help: "let the TPM open the vault without a code"),
      Option.weakPasscode,
      Option(.withProtected, help: "let it open protected values, too"),
    ] + Option.keyFiles + [
      Option(.recoveryKey, help: "ask for the recovery key, not the passcode"),
      Option(.recoveryKeyFile, .required("FILE"), help: "read the recovery key from FILE"),
    ] + Option.kdf,
    unlocking: .asks, run: run)

  /// Names what can be done with slots.
  private enum Action: String, CaseIterable {
    case list, add, remove, disable, enable, test

    /// Refuses what belongs to another action.
    func check(_ arguments: Arguments) throws(UsageError) {
      let taken: [OptionName] =
        switch self {
        case .list: [.json, .long]
        case .add:
          SlotControl.command.options.map { $0.name }.filter { $0 != .json && $0 != .long }
        // A key file has its own refusal.
        case .remove, .disable, .enable, .test:
          [.recoveryKey, .recoveryKeyFile, .keyFile, .keyFileFD]
        }
      for option in SlotControl.command.options where arguments.has(option.name) {
        guard !taken.contains(option.name) else { continue }
        throw .optionUnexpected(option.name, verb: "slot " + rawValue)
      }
    }
  }

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let operands = invocation.arguments.operands
    let action = Action.allCases.first { $0.rawValue.utf8.elementsEqual(operands[0]) }
    guard let action else {
      throw .usage(
        "slot does not know " + Diagnostic.quoted(operands[0]),
        hint: "say list, add, remove, disable, enable or test")
    }
    let access = try invocation.access()
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    let operand = operands.count > 1 ? operands[1] : nil
    try parsing { [arguments = invocation.arguments] () throws(UsageError) in
      try action.check(arguments)
    }
    switch action {
    case .list:
      if let operand { throw .usage(.operandUnexpected(operand, verb: "slot list")) }
      try SlotTable.write(access, &invocation)
    case .add: try SlotAdding.run(try kind(operand), access, &invocation)
    case .remove: try change(.remove, operand, access, invocation.messages)
    case .disable: try change(.disable, operand, access, invocation.messages)
    case .enable: try change(.enable, operand, access, invocation.messages)
    case .test:
      try test(operand == nil ? nil : try number(operand, verb: "slot test"), access, &invocation)
    }
    return .ok
  }

  private static func kind(_ text: [UInt8]?) throws(CommandError) -> Credential {
    guard let text else { throw .usage(.operandMissing("KIND", verb: "slot add")) }
    for kind in Credential.allCases where kind.word.utf8.elementsEqual(text) { return kind }
    throw .usage(
      "there is no kind of slot " + Diagnostic.quoted(text),
      hint: "a slot is of kind passcode, recovery-key, key-file, local, tpm or fido2")
  }

  private static func number(_ text: [UInt8]?, verb: String) throws(CommandError) -> UInt8 {
    guard let text else { throw .usage(.operandMissing("N", verb: verb)) }
    guard let wide = Decimal.parse(text[...]), let number = UInt8(exactly: wide),
      number != SlotRequest.anySlot
    else {
      throw .usage(
        Diagnostic.quoted(text) + " is not a slot's number", hint: "'kura slot list' shows them")
    }
    return number
  }
}

// MARK: - Changing and trying

extension SlotControl {
  /// Removes, disables or enables a slot.
  private static func change(
    _ change: SlotSwitch, _ operand: [UInt8]?, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    let number = try number(operand, verb: "slot " + change.rawValue)
    try access.asking.refuseKeyFile()
    var questioner = try access.asking.questioner()
    var connection = try access.connectRunningOrOwn()
    let slots = try running { () throws(ClientError) in try connection.slots() }
    // A locked vault's list proves nothing.
    guard !slots.isAuthentic || slots.all.contains(where: { $0.facts.number == number }) else {
      throw .noSlot(number)
    }
    let credential = try ProvedCredential.take(access, &questioner, &connection)
    do throws(ClientError) {
      try connection.changeSlot(change, number, credential.kind, current: credential.secret)
    } catch {
      guard change == .enable else { throw .client(error) }
      if case .refused(.recoveryKeyExists) = error { throw .otherRecoveryKey(slots) }
      throw .adding(.tpm, error)
    }
    if change != .enable { warn(of: change, number, slots, messages) }
  }

  /// Says which way in nobody has any more, and how there is one again.
  private static func warn(
    of change: SlotSwitch, _ number: UInt8, _ slots: Slots, _ messages: Messages
  ) {
    let inUse = slots.all.map { $0.facts }.filter { !$0.isDisabled }
    let left = inUse.filter { $0.number != number }.map { $0.kind }
    switch inUse.first(where: { $0.number == number })?.kind {
    case .passcode where !left.contains(.passcode),
      .local where !left.contains(where: { $0.isTyped }):
      messages.warn("no passcode opens the vault any more; keep its recovery key")
      messages.suggest(
        change == .disable
          ? "'kura slot enable --recovery-key \(number)' brings it back"
          : "'kura passcode --recovery-key' gives it one again")
    case .recoveryKey where !left.contains(.recoveryKey):
      messages.warn(
        "no recovery key opens the vault any more: a forgotten passcode loses everything")
      messages.suggest(
        change == .disable
          ? "'kura slot enable \(number)' brings it back"
          : "'kura slot add recovery-key' makes one")
    case .passcode where !left.contains(.recoveryKey):
      messages.warn("no recovery key opens the vault: a forgotten passcode loses everything")
      messages.suggest("'kura slot add recovery-key' makes one")
    case .passcode, .recoveryKey, .local, .keyFile, .tpm2, .fido2, .disabled, .later, nil: break
    }
  }

  private static func test(
    _ number: UInt8?, _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    var questioner = try access.asking.questioner()
    var connection = try access.connectRunningOrOwn()
    let kind = try kind(of: number, access, &connection)
    var opened: UInt8 = 0
    if let secret = try given(kind, access, &connection, invocation.messages) {
      opened = try running { () throws(ClientError) in
        try connection.testSlot(number, kind, secret: secret)
      }
    } else {
      _ = try ProvedCredential.ask(access, &questioner, &connection, kind) {
        kind, secret, connection throws(ClientError) in
        opened = try connection.testSlot(number, kind, secret: secret)
        return nil
      }
    }
    try invocation.output.write("slot \(opened) opens the vault\n")
  }

  /// What a script hands over, and nothing for a security key that takes no PIN.
  private static func given(
    _ kind: Credential, _ access: VaultAccess, _ connection: inout Connection,
    _ messages: Messages
  ) throws(CommandError) -> SecretBytes? {
    if let secret = try access.asking.givenCredential(as: kind) { return secret }
    guard kind == .fido2, try !KeyTouch.takesPIN(&connection, messages) else { return nil }
    return try KeyTouch.nothing()
  }

  /// What is to be shown: what the options say, else what the slot is of.
  private static func kind(
    of number: UInt8?, _ access: VaultAccess, _ connection: inout Connection
  ) throws(CommandError) -> Credential {
    let kind = access.asking.kind
    guard let number else { return kind }
    let slots = try running { () throws(ClientError) in try connection.slots() }
    let slot = slots.all.first { $0.facts.number == number }
    if let slot, slot.facts.isDisabled {
      throw .failure(
        "slot \(number) is disabled", hint: "'kura slot enable \(number)' puts it back into use",
        .denied)
    }
    guard kind == .passcode else { return kind }
    switch slot?.facts.kind {
    case .recoveryKey: return access.asking.hasGivenPasscode ? .passcode : .recoveryKey
    case .local: return .local
    case .tpm2: return .tpm
    case .fido2: return .fido2
    case .keyFile: throw .usage(.keyFileMissing)
    // A slot of any other kind the agent refuses to try.
    case .passcode, .disabled, .later, nil: return .passcode
    }
  }
}

extension SlotKind {
  /// Whether it is typed where the passcode is asked for.
  fileprivate var isTyped: Bool { self == .passcode || self == .local }
}

extension CommandError {
  /// A recovery key cannot come back beside another; the one in force is not to be ended for it.
  fileprivate static func otherRecoveryKey(_ slots: Slots) -> CommandError {
    let other = slots.all.first { $0.facts.kind == .recoveryKey && !$0.facts.isDisabled }
    return .failure(
      "another recovery key is in force, and there is one at most",
      hint: other.map { "'kura slot disable \($0.facts.number)' puts that one out of use" },
      .exists)
  }
}

extension Credential {
  /// The word for the kind of slot that it opens.
  var word: String {
    switch self {
    case .passcode: "passcode"
    case .recoveryKey: "recovery-key"
    case .keyFile: "key-file"
    case .local: "local"
    case .tpm: "tpm"
    case .fido2: "fido2"
    }
  }
}
