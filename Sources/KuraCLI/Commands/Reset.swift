// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura reset`: starts anew for somebody who has lost everything. The old file is kept.
enum Reset {
  static let command = Command(
    "reset", abstract: "set a lost vault aside, and make a new one in its place",
    options: Init.options, unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let order = try Init.Order(invocation)
    let access = try invocation.access()
    let vault = access.vault
    guard vault.isThere else { throw .noVault(vault.path) }
    guard vault.isFile else { throw .notAVault(vault.path) }
    // What cannot be listed is no reason not to go on.
    do throws(FileError) { note(try VaultReplacement.drafts(of: vault), invocation.messages) } catch
    {}
    let replacement = VaultReplacement(of: vault, at: Clock.unix())
    var questioner = try access.asking.questioner()
    try confirm(access, replacement, &questioner)
    let draft = try invocation.access(vault: replacement.new)
    try Init.make(order, draft, &questioner, invocation, isOwn: true)
    try access.lockAgent()
    try writing(vault.path) { () throws(FileError) in try replacement.perform() }
    invocation.messages.note("made " + Diagnostic.shown(vault.path))
    invocation.messages.note("the old vault stands at " + Diagnostic.shown(replacement.old))
    return .ok
  }
}

// MARK: - What an earlier one left

extension Reset {
  /// Names the new vaults of resets that were cut short. They are not removed: another reset may be at
  /// work on one.
  static func note(_ drafts: [String], _ messages: Messages) {
    for path in drafts {
      messages.note(
        Diagnostic.shown(path)
          + " is left of a reset that did not come to its end: a new, empty vault")
    }
  }
}

// MARK: - A person's word

extension Reset {
  /// Has the vault's name typed: no option and no program can stand in for it.
  private static func confirm(
    _ access: VaultAccess, _ replacement: VaultReplacement, _ questioner: inout Questioner
  ) throws(CommandError) {
    guard questioner.hasTerminal else { throw .noInteraction(.confirmation) }
    let remark = try remark(access)
    let name = access.vault.name ?? access.vault.fileName
    let kept = Diagnostic.shown(VaultPath.fileName(of: replacement.old))
    let path = Diagnostic.shown(access.vault.path)
    questioner.prompt?.say("A new, empty vault is to stand at " + path)
    questioner.prompt?.say("Nothing of the old one is in it; its file is kept as " + kept)
    if !remark.utf8.isEmpty { questioner.prompt?.say(remark) }
    let answer = try questioner.ask(
      "type the vault's name, " + Diagnostic.shown(name) + ", to go on: ", isHidden: false)
    questioner.endLine()
    let bytes = Array(name.utf8)
    guard answer.isEqual(to: bytes.span) else { throw .mismatch(.vaultName) }
  }

  /// What may make a person think again.
  private static func remark(_ access: VaultAccess) throws(CommandError) -> String {
    var connection = try access.connectRunningOrOwn()
    do throws(ClientError) {
      guard try connection.status().state == .unlocked else { return "" }
      return "It is unlocked now: its values can be read until it locks."
    } catch {
      guard case .refused(let refused) = error, refused.failure.isOfVault,
        refused.failure != .noVault
      else { throw .client(error) }
      return "It cannot be read now: " + Diagnostic(refused).message
    }
  }
}
