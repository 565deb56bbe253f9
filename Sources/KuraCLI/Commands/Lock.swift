// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// `kura lock`: has the agent forget the key.
enum Lock {
  static let command = Command(
    "lock", abstract: "lock the vault given by --vault, or all of them", run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let scope: LockRequest.Scope = invocation.arguments.has(.vault) ? .vault : .all
    // Without an agent nothing is unlocked.
    guard var connection = try access.connectAnswering() else { return .ok }
    try running { () throws(ClientError) in try connection.lock(.asked, scope: scope) }
    return .ok
  }
}
