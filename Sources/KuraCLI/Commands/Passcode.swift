// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura passcode`: puts another passcode in the place of the one there is.
enum Passcode {
  static let command = Command(
    "passcode", abstract: "change the passcode, or set one with the recovery key",
    options: [
      Option(.local, help: "change the code (PIN) for this machine"),
      Option(.tpm, help: "change the code for this machine's TPM"),
      Option(.recoveryKey, help: "ask for the recovery key, not the passcode"),
      Option(.recoveryKeyFile, .required("FILE"), help: "read the recovery key from FILE"),
      Option(.newPasscodeFD, .required("N"), help: "read the new passcode from descriptor N"),
      Option(.newPasscodeFile, .required("FILE"), help: "read the new passcode from FILE"),
      Option(.newRecoveryKeyFile, .required("OUT"), help: "write a new recovery key to OUT (0600)"),
      Option.weakPasscode,
      Option(.rotate, help: "then seal everything again under a new data key"),
    ] + Option.kdf,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.access()
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    var questioner = try access.asking.questioner()
    var connection = try access.connectRunningOrOwn()
    if try wantsCode(access, &questioner, &connection) {
      return try changeCode(access, &questioner, &connection, invocation)
    }
    let given = try access.asking.secret(.newPasscodeFD, .newPasscodeFile)
    let credential = try ProvedCredential.take(
      access, &questioner, &connection, provingGiven: given == nil && questioner.canAsk)
    var change = try Change.plan(invocation, credential, &questioner)
    let new = try newPasscode(invocation, change.cost, &connection).take(
      given: given, orNeeds: .newPasscode, &questioner, invocation.messages)
    guard !new.isCode else {
      return try SlotAdding.addCode(new.secret, credential, change.cost, &connection, invocation)
    }
    let before = try passcodes(&connection)
    try change.make(credential, new.secret, &questioner, &connection)
    invocation.messages.done("the passcode is changed")
    Sync.tellOfFormerPasscode(&connection, invocation.messages)
    tellOfOthers(before, credential.kind, &connection, invocation.messages)
    guard invocation.arguments.has(.rotate) else { return .ok }
    try Rotate.run(after: new.secret, access, connection, invocation.messages)
    return .ok
  }
}

extension Passcode {
  /// How a new one is chosen: a code is offered where there is none yet.
  private static func newPasscode(
    _ invocation: borrowing Invocation, _ cost: KDFParameters, _ connection: inout Connection
  ) throws(CommandError) -> NewPasscode {
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    let hasCode = slots.contains { $0.facts.kind == .local }
    return NewPasscode(
      remark: StrengthRemark(cost), takesWeak: invocation.arguments.has(.weakPasscode),
      codeOffer: hasCode ? [] : SlotAdding.codeOffer, remedy: .slot)
  }

  private static func passcodes(
    _ connection: inout Connection
  ) throws(CommandError) -> [Slot] {
    try running { () throws(ClientError) in try connection.slots() }.all
      .filter { $0.facts.kind == .passcode && !$0.facts.flags.contains(.disabled) }
  }

  /// Says what became of the other passcodes: those that were the same went along, as far as they could be tried; a
  /// recovery key replaces the one of the first slot.
  private static func tellOfOthers(
    _ before: [Slot], _ kind: Credential, _ connection: inout Connection,
    _ messages: Messages
  ) {
    guard before.count > 1, let after = try? passcodes(&connection) else { return }
    if kind == .recoveryKey {
      let name = name(of: before[0])
      return messages.warn("the new passcode replaced that of " + name + "; " + othersStay)
    }
    for slot in before where !after.contains(where: { $0.facts.number == slot.facts.number }) {
      messages.warn("the old passcode opened " + name(of: slot) + " as well, which is ended")
    }
    if after.count > 1 { messages.note(othersStay) }
  }

  private static let othersStay = "the other passcodes stay: 'kura slot list' shows them"

  private static func name(of slot: Slot) -> String {
    let label = slot.label.utf8.isEmpty ? "" : " (" + Diagnostic.shown(slot.label) + ")"
    return "slot \(slot.facts.number)" + label
  }
}

// MARK: - The change

extension Passcode {
  /// Plans the change: what it costs to guess, and who keeps a new recovery key.
  private struct Change: ~Copyable {
    let cost: KDFParameters
    let flags: PasscodeRequest.Flags
    var keeper: RecoveryKeeper

    static func plan(
      _ invocation: borrowing Invocation, _ credential: borrowing ProvedCredential,
      _ questioner: inout Questioner
    ) throws(CommandError) -> Change {
      let arguments = invocation.arguments
      let cost = try parsing { () throws(UsageError) in try arguments.cost() }
      let place: RecoveryKeeper.Place
      if let path = try invocation.text(.newRecoveryKeyFile) {
        place = .file(path)
      } else {
        place = try wantsNewKey(credential, &questioner) ? .terminal : .nowhere
      }
      var flags: PasscodeRequest.Flags = place == .nowhere ? [] : .recoveryKey
      if arguments.has(.weakKDF) { flags.insert(.weakKDF) }
      let keeper = try RecoveryKeeper(place, questioner)
      return Change(cost: cost, flags: flags, keeper: keeper)
    }

    /// A recovery key that was typed has been seen: another one is offered.
    private static func wantsNewKey(
      _ credential: borrowing ProvedCredential, _ questioner: inout Questioner
    ) throws(CommandError) -> Bool {
      guard credential.kind == .recoveryKey, credential.isTyped else { return false }
      return try prompting { () throws(PromptError) in
        try questioner.prompt?.confirms("make a new recovery key, and end this one?")
      } ?? false
    }

    mutating func make(
      _ credential: borrowing ProvedCredential, _ new: borrowing SecretBytes,
      _ questioner: inout Questioner, _ connection: inout Connection
    ) throws(CommandError) {
      var failure: CommandError?
      do throws(ClientError) {
        try connection.changePasscode(
          credential.kind, current: credential.secret, new: new, cost: cost, flags: flags
        ) { key throws(ClientError) in
          keeper.keep(key, &questioner, &failure)
        }
      } catch { throw failure?.withoutChange ?? .client(error) }
    }
  }
}
