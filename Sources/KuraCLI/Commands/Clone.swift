// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura clone`: makes another vault of what this one has.
enum Clone {
  static let command = Command(
    "clone", [.init("OUT")],
    abstract: "make another vault of what this one has, with an identity of its own",
    options: [
      Option(
        .newRecoveryKeyFile, .required("FILE"),
        help: "write the clone's recovery key to FILE (0600)"),
      Option(.noRecoveryKey, help: "make none: a forgotten passcode loses everything"),
    ] + Option.keyFiles,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let (arguments, messages) = (invocation.arguments, invocation.messages)
    try parsing { () throws(UsageError) in
      try arguments.refuse(.newRecoveryKeyFile, with: .noRecoveryKey)
    }
    let path = try target(invocation)
    let access = try invocation.access()
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    try CommandError.requireFree(path, for: .file)
    var questioner = try access.asking.questioner()
    let place = try Rekey.place(invocation)
    guard place != .terminal || questioner.hasTerminal else {
      throw .noInteraction(.newRecoveryKeyShown)
    }
    var keeper = try RecoveryKeeper(place, questioner)
    let keyFile = try access.asking.keyFile()
    var connection = try access.connectRunningOrOwn()
    let shown = try ShownSlots.prove(access, keyFile, &questioner, &connection)
    try perform(shown, keyFile, path, &keeper, &questioner, &connection, invocation)
    if !shown.dropped.isEmpty {
      messages.warn("the clone does not have these slots of \(shown.title):")
      for line in shown.droppedLines { messages.warn(line) }
    }
    messages.note("made " + Diagnostic.shown(path) + ", a vault of its own")
    return .ok
  }

  /// Where the clone is to stand; absolute, as the agent has a working directory of its own.
  private static func target(
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> String {
    let operand = try invocation.operand(0)
    do throws(PathError) { return try VaultPath(at: operand).path } catch { throw .path(error) }
  }

  private static func perform(
    _ shown: borrowing ShownSlots, _ keyFile: borrowing SecretBytes?, _ path: String,
    _ keeper: inout RecoveryKeeper, _ questioner: inout Questioner,
    _ connection: inout Connection, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let messages = invocation.messages
    var bar = ProgressBar("cloning", messages)
    var failure: CommandError?
    var lost = Lost.unbegunRekey
    defer {
      bar.clear()
      lost.withdraw(messages)
    }
    let flags: RekeyRequest.Flags = invocation.arguments.has(.noRecoveryKey) ? [] : .recoveryKey
    do throws(ClientError) {
      try connection.rekey(
        passcode: shown.passcode, keyFile: keyFile, flags: flags, clonePath: path
      ) { key throws(ClientError) in
        guard keeper.keep(key, &questioner, &failure) else { return false }
        lost = .clone(path)
        lost.announceAtInterrupt(messages)
        return true
      } progress: {
        bar.show($0)
      }
    } catch {
      keeper.noteUnused(path, after: error, messages)
      if case .refused(.vaultExists) = error { throw .exists(.file, path) }
      throw failure?.beforeRekey ?? lost.from(error)
    }
  }
}
