// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura lock`: has the agent forget the key, and leave the file whole.
enum Lock {
  static let command = Command(
    "lock", abstract: "lock the vault given by --vault, or all of them",
    options: [
      Option(.reason, .required("WHY"), help: "why: screen-lock, logout or suspend")
    ],
    run: run)

  /// What a screen locker, a shell that ends or a program before sleep says with --reason.
  static let reasons: [LockReason] = [.screenLock, .logout, .suspend]

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let reason = try reason(invocation)
    let scope: LockRequest.Scope = invocation.arguments.has(.vault) ? .vault : .all
    let isLocked = try access.eachAgent { connection throws(ClientError) in
      try connection.lock(reason, scope: scope)
    }
    // Without an agent nothing is unlocked, but one that was killed leaves the latest changes in the WAL, and a key
    // file must not unlock by itself what is meant to be locked.
    if !isLocked {
      guard access.vault.hasWAL || LookedKeyFiles.areThere else { return .ok }
      var engine = try access.connectOwn()
      try running { () throws(ClientError) in try engine.lock(reason, scope: scope) }
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

  private static func reason(_ invocation: borrowing Invocation) throws(CommandError) -> LockReason
  {
    guard let given = invocation.arguments.value(.reason) else { return .asked }
    guard let reason = reasons.first(where: { $0.word.utf8.elementsEqual(given) }) else {
      throw .usage("--reason takes screen-lock, logout or suspend, not " + Diagnostic.quoted(given))
    }
    return reason
  }
}
