// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura mcp`: lets a coding agent see names and run commands, by the Model Context Protocol.
enum Mcp {
  static let command = Command(
    "mcp", [.init("FILE", .optional)],
    abstract: "let a coding agent use declared commands, and see no value",
    options: [
      Option(.approve, help: "agree to what FILE declares, by the passcode")
    ] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  /// What is read where no file is named.
  private static let file = "kura-mcp.json"

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let path = try invocation.arguments.operands.isEmpty ? file : invocation.operand(0)
    let declaration = try Declaration.read(path)
    let record = try ApprovedDeclaration(of: path)
    if invocation.arguments.has(.approve) {
      try approve(declaration, record, access)
      return .ok
    }
    var server = try MCPServer.make(record, access, patience: invocation.arguments.value(.wait))
    try server.serve()
    return .ok
  }

  /// Shows the owner what it declares, and keeps it once the passcode is given.
  private static func approve(
    _ declaration: Declaration, _ record: ApprovedDeclaration, _ access: VaultAccess
  ) throws(CommandError) {
    for entry in declaration.entries {
      access.messages.note(Diagnostic.shown(entry.name) + ": " + Diagnostic.shown(entry.line))
    }
    if declaration.entries.isEmpty { access.messages.note("it declares no command") }
    var held = Held(keepsSecret: true)
    try access.unlocked(holding: &held) { connection throws(ClientError) in
      _ = try connection.status()
    }
    guard var connection = held.connection.take() else { throw .client(.hungUp) }
    let kind = access.asking.authority
    var secret = held.secret.take()
    if secret == nil { secret = try access.asking.givenCredential(as: kind) }
    if let secret = consume secret {
      _ = try running { () throws(ClientError) in
        try connection.testSlot(nil, kind, secret: secret)
      }
    } else {
      var questioner = try access.asking.questioner()
      guard questioner.canAsk else { throw .noInteraction(.owner("agree to these commands")) }
      let question = try access.question(
        kind, &connection, to: Purpose("let programs run these commands"))
      _ = try questioner.attempts(question) { kind, secret throws(ClientError) in
        _ = try connection.testSlot(nil, kind, secret: secret)
      }
    }
    try running { () throws(ClientError) in try record.keep(declaration, &connection) }
  }
}
