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
      Option(.drop, help: "end what is not shown; the same as --yes"),
      Option(.newRecoveryKeyFile, .required("OUT"), help: "write a new recovery key to OUT (0600)"),
      Option(.noRecoveryKey, help: "make none: a forgotten passcode loses everything"),
    ] + Option.keyFiles + Option.chips,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    try rekey(&invocation)
    return .ok
  }

  /// Gives the vault another key.
  ///
  /// - Parameter device: The id of a machine that shares the vault no longer then; empty for none.
  static func rekey(
    _ invocation: inout Invocation, removing device: [UInt8] = []
  ) throws(CommandError) {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in
      try arguments.refuse(.newRecoveryKeyFile, with: .noRecoveryKey)
    }
    let access = try invocation.access()
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    var questioner = try access.asking.questioner()
    guard isAgreed(arguments) || questioner.hasTerminal else { throw .noInteraction(.agreement) }
    let place = try place(invocation)
    guard place != .terminal || questioner.hasTerminal else {
      throw .noInteraction(.newRecoveryKeyShown)
    }
    var keeper = try RecoveryKeeper(place, questioner)
    let keyFile = try access.asking.keyFile()
    var connection = try access.connectRunningOrOwn()
    let shown = try ShownSlots.prove(
      access, keyFile, &questioner, &connection, takesChips: true)
    try announce(shown, arguments, &questioner, invocation.messages)
    try perform(shown, keyFile, &keeper, &questioner, &connection, invocation, device)
    invocation.messages.note("everything is under a new vault key")
  }

  /// Whether nobody is asked if it goes on.
  private static func isAgreed(_ arguments: Arguments) -> Bool {
    arguments.has(.yes) || arguments.has(.drop)
  }

  /// Where a new recovery key is kept.
  static func place(
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> RecoveryKeeper.Place {
    if let path = try invocation.text(.newRecoveryKeyFile) { return .file(path) }
    return invocation.arguments.has(.noRecoveryKey) ? .nowhere : .terminal
  }

  private static func perform(
    _ shown: borrowing ShownSlots, _ keyFile: borrowing SecretBytes?,
    _ keeper: inout RecoveryKeeper,
    _ questioner: inout Questioner, _ connection: inout Connection,
    _ invocation: borrowing Invocation, _ device: [UInt8]
  ) throws(CommandError) {
    let messages = invocation.messages
    var bar = ProgressBar("rekeying", messages)
    var failure: CommandError?
    var lost = Lost.unbegunRekey
    defer {
      bar.clear()
      lost.withdraw(messages)
    }
    if shown.pin != nil { messages.note(KeyTouch.again) }
    let flags: RekeyRequest.Flags = invocation.arguments.has(.noRecoveryKey) ? [] : .recoveryKey
    do throws(ClientError) {
      try connection.rekey(
        passcode: shown.passcode, keyFile: keyFile, code: shown.code, keySlot: shown.keySlot,
        pin: shown.pin, flags: flags, removing: device
      ) {
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
  /// Says what ends, and asks.
  private static func announce(
    _ shown: borrowing ShownSlots, _ arguments: Arguments, _ questioner: inout Questioner,
    _ messages: Messages
  ) throws(CommandError) {
    let isNone = shown.dropped.isEmpty
    var lines = ["\(shown.title) gets a new vault key; these slots end:"] + shown.droppedLines
    if isNone { lines = ["\(shown.title) gets a new vault key; no slot ends"] }
    guard !isAgreed(arguments) else {
      // That slots end is never hidden.
      for line in lines { isNone ? messages.note(line) : messages.warn(line) }
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

extension CommandError {
  /// The same where nothing was changed.
  var beforeRekey: CommandError {
    self == .mismatch(.recoveryKey) ? .mismatch(.unkeptRecoveryKey) : self
  }
}
