// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// `kura lock`: has the agent forget the key, and leave the file whole.
enum Lock {
  static let command = Command(
    "lock", abstract: "lock the vault given by --vault, or all of them", run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let scope: LockRequest.Scope = invocation.arguments.has(.vault) ? .vault : .all
    var engine = try access.connectAnswering()
    // Without an agent nothing is unlocked, but one that was killed leaves the latest changes in the WAL.
    if engine == nil, access.vault.hasWAL { engine = try access.connectOwn() }
    guard var connection = engine.take() else { return .ok }
    try running { () throws(ClientError) in try connection.lock(.asked, scope: scope) }
    if scope == .all, let vault = invocation.variables["KURA_VAULT"] {
      invocation.messages.note(
        "all vaults are locked, not only that of KURA_VAULT: --vault "
          + VaultHint.quoted(Array(vault.utf8)) + " locks that one")
    } else {
      invocation.messages.done(
        scope == .vault ? access.title + " is locked" : "all vaults are locked")
    }
    return .ok
  }
}
