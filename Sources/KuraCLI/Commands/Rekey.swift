// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura rekey`: puts everything under a new vault key, with only the slots that are shown.
enum Rekey {
  static let command = Command(
    "rekey", abstract: "put everything under a new vault key, and end all other slots",
    options: [
      Option(.yes, help: "do not ask whether to go on"),
      Option(.newRecoveryKeyFile, .required("OUT"), help: "write a new recovery key to OUT (0600)"),
      Option(.noRecoveryKey, help: "make none: a forgotten passcode loses everything"),
    ] + Option.keyFiles,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in
      try arguments.refuse(.newRecoveryKeyFile, with: .noRecoveryKey)
    }
    let access = try invocation.access()
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    var questioner = try access.asking.questioner()
    guard arguments.has(.yes) || questioner.hasTerminal else { throw .noInteraction(.agreement) }
    let place = try place(invocation)
    guard place != .terminal || questioner.hasTerminal else {
      throw .noInteraction(.newRecoveryKeyShown)
    }
    var keeper = try RecoveryKeeper(place, questioner)
    let keyFile = try access.asking.keyFile()
    var connection = try access.connectRunningOrOwn()
    let plan = try Plan.make(access, keyFile, &questioner, &connection)
    try plan.announce(arguments, &questioner, invocation.messages)
    try perform(plan, keyFile, &keeper, &questioner, &connection, invocation)
    invocation.messages.note("everything is under a new vault key")
    return .ok
  }

  private static func place(
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> RecoveryKeeper.Place {
    if let path = try invocation.text(.newRecoveryKeyFile) { return .file(path) }
    return invocation.arguments.has(.noRecoveryKey) ? .nowhere : .terminal
  }

  private static func perform(
    _ plan: borrowing Plan, _ keyFile: borrowing SecretBytes?, _ keeper: inout RecoveryKeeper,
    _ questioner: inout Questioner, _ connection: inout Connection,
    _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let messages = invocation.messages
    var bar = ProgressBar("rekeying", messages)
    var failure: CommandError?
    var lost = Lost.unbegunRekey
    defer {
      bar.clear()
      lost.withdraw(messages)
    }
    let flags: RekeyRequest.Flags = invocation.arguments.has(.noRecoveryKey) ? [] : .recoveryKey
    do throws(ClientError) {
      try connection.rekey(passcode: plan.passcode, keyFile: keyFile, flags: flags) {
        key throws(ClientError) in
        guard keeper.keep(key, &questioner, &failure) else { return false }
        lost = .rekey(keeper.place)
        lost.announceAtInterrupt(messages)
        return true
      } progress: {
        bar.show($0)
      }
    } catch { throw failure?.beforeRekey ?? lost.from(error) }
  }
}

// MARK: - What it ends

extension Rekey {
  /// Holds what was proved, and which slots end.
  private struct Plan: ~Copyable {
    let passcode: SecretBytes
    let kept: [UInt8]
    let dropped: [Slot]
    let title: String

    /// Proves the passcode, and the key file, and unlocks the vault in this engine where it is locked.
    static func make(
      _ access: VaultAccess, _ keyFile: borrowing SecretBytes?, _ questioner: inout Questioner,
      _ connection: inout Connection
    ) throws(CommandError) -> Plan {
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
      if try running({ () throws(ClientError) in try connection.status().state }) != .unlocked {
        // The session stays locked: an engine of this command's own does it.
        connection = try access.connectOwn()
        try running { () throws(ClientError) in
          _ = try connection.unlock(.passcode, secret: secret)
        }
      }
      let slots = try running { () throws(ClientError) in try connection.slots().all }
      return Plan(
        passcode: secret, kept: kept,
        dropped: slots.filter { !kept.contains($0.facts.number) }, title: access.title)
    }

    /// Says what ends, and asks.
    func announce(
      _ arguments: Arguments, _ questioner: inout Questioner, _ messages: Messages
    ) throws(CommandError) {
      var lines = ["\(title) gets a new vault key; these slots end:"]
      for slot in dropped {
        let label = slot.label.utf8.isEmpty ? "" : " " + Diagnostic.shown(slot.label)
        lines.append("  \(slot.facts.number) " + slot.facts.kind.name + label)
      }
      if dropped.isEmpty { lines = ["\(title) gets a new vault key; no slot ends"] }
      guard !arguments.has(.yes) else {
        // That slots end is never hidden.
        for line in lines { dropped.isEmpty ? messages.note(line) : messages.warn(line) }
        return
      }
      for line in lines { questioner.prompt?.say(line) }
      let goesOn =
        try prompting { () throws(PromptError) in
          try questioner.prompt?.confirms("go on?")
        } ?? false
      guard goesOn else { throw .prompt(.cancelled) }
    }
  }
}

extension CommandError {
  /// The same where nothing was changed.
  fileprivate var beforeRekey: CommandError {
    self == .mismatch(.recoveryKey) ? .mismatch(.unkeptRecoveryKey) : self
  }
}
