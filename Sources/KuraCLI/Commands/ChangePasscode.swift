// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// `kura passcode`: puts another passcode in the place of the one there is.
enum ChangePasscode {
  static let command = Command(
    "passcode", abstract: "change the passcode, or set one with the recovery key",
    options: [
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
    let credential = try Credential.take(access, &questioner, &connection)
    var change = try Change.plan(invocation, credential, &questioner)
    let new = try change.strength.newPasscode(
      given: try access.asking.secret(.newPasscodeFD, .newPasscodeFile), orNeeds: .newPasscode,
      &questioner, invocation.messages)
    guard !new.isShortCode || invocation.arguments.has(.weakPasscode) else {
      throw .shortCode(new.isLongEnoughForCode ? .slot : .tooFew)
    }
    let choice = try choice(credential.kind, &connection)
    try change.make(credential, new, &questioner, &connection)
    if let choice { invocation.messages.warn(choice) }
    guard invocation.arguments.has(.rotate) else { return .ok }
    try Rotate.run(after: new, access, connection, invocation.messages)
    return .ok
  }
}

extension ChangePasscode {
  /// What is said where a recovery key replaces one passcode of several: the one of the first slot.
  private static func choice(
    _ kind: CredentialKind, _ connection: inout Connection
  ) throws(CommandError) -> String? {
    guard kind == .recoveryKey else { return nil }
    let slots = try running { () throws(ClientError) in try connection.slots() }.all
      .filter { $0.facts.kind == .passcode }
    guard slots.count > 1 else { return nil }
    let label = slots[0].label.utf8.isEmpty ? "" : " (" + Diagnostic.shown(slots[0].label) + ")"
    return "the new passcode replaced that of slot \(slots[0].facts.number)" + label
      + "; the other passcodes stay: 'kura slot list' shows them"
  }
}

// MARK: - What opens the vault now

extension ChangePasscode {
  /// The credential that is given or typed; a typed one may be wrong three times.
  struct Credential: ~Copyable {
    let kind: CredentialKind
    let isTyped: Bool
    let label: String
    var secret: SecretBytes

    static func take(
      _ access: VaultAccess, _ questioner: inout Questioner, _ connection: inout Connection,
      as wanted: CredentialKind? = nil, changing: Bool = true
    ) throws(CommandError) -> Credential {
      var kind = wanted ?? access.asking.kind
      if let secret = try access.asking.givenCredential(as: kind) {
        return Credential(kind: kind, isTyped: false, label: access.label(kind), secret: secret)
      }
      // A code changes no slot: where there is no passcode, the recovery key is what does.
      if changing, kind == .passcode, try takesOnlyCodes(&connection) { kind = .recoveryKey }
      guard questioner.canAsk else {
        throw .noInteraction(kind == .recoveryKey ? .recoveryKey : .passcode)
      }
      let label = try access.question(kind, &connection)
      let secret = try questioner.ask(label, isHidden: kind != .recoveryKey)
      questioner.endLine()
      return Credential(kind: kind, isTyped: true, label: label, secret: secret)
    }

    private static func takesOnlyCodes(
      _ connection: inout Connection
    ) throws(CommandError) -> Bool {
      try running { () throws(ClientError) in try connection.status() }.takesOnlyCodes
    }

    /// Tries it until it is right, three times at most where it is typed.
    mutating func attempts(
      _ questioner: inout Questioner,
      _ body: (CredentialKind, borrowing SecretBytes) throws(ClientError) -> Void
    ) throws(CommandError) {
      while true {
        do throws(ClientError) { return try body(kind, secret) } catch {
          guard isTyped, questioner.takesBack(error) else { throw .client(error) }
        }
        try askAgain(&questioner)
      }
    }

    mutating func askAgain(_ questioner: inout Questioner) throws(CommandError) {
      secret = try questioner.ask(label, isHidden: kind != .recoveryKey)
      questioner.endLine()
    }
  }
}

// MARK: - The change

extension ChangePasscode {
  private struct Change: ~Copyable {
    let strength: StrengthRemark
    let cost: KDFCost
    let flags: PasscodeRequest.Flags
    var keeper: RecoveryKeeper

    static func plan(
      _ invocation: borrowing Invocation, _ credential: borrowing Credential,
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
      return Change(strength: StrengthRemark(cost), cost: cost, flags: flags, keeper: keeper)
    }

    /// A recovery key that was typed has been seen: another one is offered.
    private static func wantsNewKey(
      _ credential: borrowing Credential, _ questioner: inout Questioner
    ) throws(CommandError) -> Bool {
      guard credential.kind == .recoveryKey, credential.isTyped else { return false }
      return try prompting { () throws(PromptError) in
        try questioner.prompt?.confirms("make a new recovery key, and end this one?")
      } ?? false
    }

    mutating func make(
      _ credential: consuming Credential, _ new: borrowing SecretBytes,
      _ questioner: inout Questioner, _ connection: inout Connection
    ) throws(CommandError) {
      while true {
        var failure: CommandError?
        do throws(ClientError) {
          return try connection.changePasscode(
            credential.kind, current: credential.secret, new: new, cost: cost, flags: flags
          ) { key throws(ClientError) in
            keeper.keep(key, &questioner, &failure)
          }
        } catch {
          if let failure { throw failure.withoutChange }
          guard credential.isTyped, questioner.takesBack(error) else { throw .client(error) }
        }
        try credential.askAgain(&questioner)
      }
    }
  }
}
