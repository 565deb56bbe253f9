// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura agent`: runs the daemon by hand; normally it starts by itself.
enum Agent {
  static let command = Command(
    "agent", [.init("start|stop|status")], abstract: "start, stop or look at the agent",
    options: [Option.json], run: run)

  /// Names what can be done with it.
  private enum Action: String, CaseIterable {
    case start, stop, status
  }

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let text = invocation.arguments.operands[0]
    let access = try invocation.agentAccess(verb: command.verb)
    let action = Action.allCases.first { $0.rawValue.utf8.elementsEqual(text) }
    if let action, action != .status, invocation.arguments.has(.json) {
      throw .usage(.optionUnexpected(.json, verb: "agent " + action.rawValue))
    }
    switch action {
    case .start: try start(access)
    case .stop: try stop(access)
    case .status: try showStatus(access, &invocation)
    case nil:
      throw .usage(
        "agent does not know " + Diagnostic.quoted(text), hint: "say start, stop or status")
    }
    return .ok
  }

  private static func start(_ access: VaultAccess) throws(CommandError) {
    var connection = try access.connect()
    _ = try running { () throws(ClientError) in try connection.agentStatus() }
  }

  private static func stop(_ access: VaultAccess) throws(CommandError) {
    _ = try access.eachAgent { connection throws(ClientError) in try connection.stopAgent() }
  }

  private static func showStatus(
    _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    guard var connection = try access.connectAnswering() else { throw .agentNotRunning }
    let summary = try running { () throws(ClientError) in try connection.agentStatus() }
    guard invocation.arguments.has(.json) else {
      return try invocation.output.write(
        "running, pid \(summary.processID), release " + summary.release
          + ", \(summary.sessionCount) unlocked\n")
    }
    try invocation.output.openDocument()
    try invocation.output.member("pid", UInt64(summary.processID))
    try invocation.output.member("release", summary.release)
    try invocation.output.member("unlocked", UInt64(summary.sessionCount))
    try invocation.output.member("locked-bytes", summary.lockedBytes)
    try invocation.output.member("unlocked-bytes", summary.unlockedBytes)
    try invocation.output.closeDocument()
  }
}
