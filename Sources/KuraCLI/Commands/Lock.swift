// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura lock`: has the agent forget the key, and leave the file whole.
enum Lock {
  static let command = Command(
    "lock", abstract: "lock the vault given by --vault, or all of them", run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let scope: LockRequest.Scope = invocation.arguments.has(.vault) ? .vault : .all
    let isLocked = try access.eachAgent { connection throws(ClientError) in
      try connection.lock(.asked, scope: scope)
    }
    // Without an agent nothing is unlocked, but one that was killed leaves the latest changes in the WAL.
    if !isLocked {
      guard access.vault.hasWAL else { return .ok }
      var engine = try access.connectOwn()
      try running { () throws(ClientError) in try engine.lock(.asked, scope: scope) }
    }
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
