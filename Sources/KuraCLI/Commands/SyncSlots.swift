// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// What of the ways to open a vault the store gets that machines share it by.
extension Sync {
  /// Names what `kura sync init --slots` takes.
  enum Slots: String, CaseIterable {
    /// The recovery key alone.
    case recovery

    /// What the command line asks for; nil for nothing.
    static func wanted(_ arguments: Arguments) throws(CommandError) -> Slots? {
      guard let text = arguments.value(.slots) else { return nil }
      guard let wanted = allCases.first(where: { $0.rawValue.utf8.elementsEqual(text) }) else {
        throw .usage(
          "--slots takes recovery, not " + Diagnostic.quoted(text),
          hint: "with it no passcode gets into the store; without it every way to open the vault")
      }
      return wanted
    }

    /// Refuses, before the store is looked at, what the vault is not made for.
    func check(_ status: SyncStatusReply, _ access: VaultAccess) throws(CommandError) {
      guard !status.isShared else {
        guard status.isSparing else { throw .client(.refused(.passcodesInStore)) }
        return
      }
      let report = try access.unlocked { connection throws(ClientError) in
        try connection.status()
      }
      guard report.weaknesses.contains(.noRecoveryKey) else { return }
      throw .failure(
        "the store would get the recovery key alone, and the vault has none; nothing was changed",
        hint: "'kura slot add recovery-key' makes one: then run this again", .denied)
    }
  }

  /// Whether the store gets recovery keys alone; nil where that is not to be read, as of a vault that is locked.
  static func sparesStore(_ connection: inout Connection) -> Bool? {
    do throws(ClientError) { return try connection.syncStatus().isSparing } catch { return nil }
  }

  /// Whether a passcode opens the vault.
  static func hasPasscode(_ access: VaultAccess) throws(CommandError) -> Bool {
    try access.unlocked { connection throws(ClientError) in
      try connection.slots().all.contains {
        $0.facts.kind == .passcode && !$0.facts.flags.contains(.disabled)
      }
    }
  }

  /// Says that slots of before stand in what a store has kept.
  ///
  /// - Parameter connection: To who has changed the passcode of its vault.
  static func tellOfFormerPasscode(_ connection: inout Connection, _ messages: Messages) {
    guard let vault = (try? connection.status())?.vault, hasStore(vault) else { return }
    let sparing = sparesStore(&connection)
    guard sparing != true else {
      return messages.note(
        "it is the passcode of this machine alone: none of the vault is in the store")
    }
    messages.note(
      "what the store has from before opens by the former one, for who kept that"
        + (sparing == nil ? ", unless it gets the recovery key alone" : ""))
    messages.suggest(
      "if that one was seen, or can be guessed: 'kura rekey' gives the vault another key")
  }
}
