// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// What of the ways to open a vault the store gets that machines share it by.
extension Sync {
  /// Names what `kura sync init --slots` takes.
  enum Slots: String, CaseIterable {
    /// The recovery key alone.
    case recovery
    /// Whatever opens the vault on any machine.
    case all

    /// What the command line asks for; nil for nothing.
    static func wanted(_ arguments: Arguments) throws(CommandError) -> Slots? {
      guard let text = arguments.value(.slots) else { return nil }
      guard let wanted = allCases.first(where: { $0.rawValue.utf8.elementsEqual(text) }) else {
        throw .usage(
          "--slots takes recovery or all, not " + Diagnostic.quoted(text),
          hint: "with recovery no passcode gets into the store; all is what there is without it")
      }
      return wanted
    }

    /// Refuses, before the store is looked at, what the vault is not made for.
    func check(_ access: VaultAccess) throws(CommandError) {
      switch self {
      case .recovery:
        let report = try access.unlocked { connection throws(ClientError) in
          try connection.status()
        }
        guard report.weaknesses.contains(.noRecoveryKey) else { return }
        throw .failure(
          "the store would get the recovery key alone, and the vault has none; nothing was changed",
          hint: "'kura slot add recovery-key' makes one: then run this again", .denied)
      case .all:
        let sparing = try access.unlocked { connection throws(ClientError) in
          try connection.setting(.passcodeInStore) == 0
        }
        guard sparing else { return }
        throw .failure(
          "the setting passcode-in-store is off: no passcode of this vault gets into a store",
          hint: "'kura config passcode-in-store on' allows it, and takes the passcode", .denied)
      }
    }
  }

  /// Whether the store gets recovery keys alone; nil where that is not to be read, as of a vault that is locked.
  static func sparesStore(_ connection: inout Connection) -> Bool? {
    do throws(ClientError) { return try connection.setting(.passcodeInStore) == 0 } catch {
      return nil
    }
  }

  /// Says that slots of before stand in what a store has kept.
  ///
  /// - Parameter connection: To who has changed the passcode of its vault.
  static func tellOfFormerPasscode(_ connection: inout Connection, _ messages: Messages) {
    guard let vault = (try? connection.status())?.vault, hasStore(vault) else { return }
    let sparing = sparesStore(&connection)
    guard sparing != true else { return }
    messages.note(
      "what the store has from before opens by the former one, for who kept that"
        + (sparing == nil ? ", but where passcode-in-store was off" : ""))
    messages.suggest(
      "if that one was seen, or can be guessed: 'kura rekey' gives the vault another key")
  }

  /// Says what a change of the setting comes to, and what it leaves.
  ///
  /// - Parameters:
  ///   - isOn: Whether passcodes get into the store from now on.
  ///   - connection: To who has the vault unlocked.
  static func tellOfSetting(
    on isOn: Bool, _ connection: inout Connection, _ messages: Messages
  ) {
    guard let vault = (try? connection.status())?.vault, hasStore(vault) else { return }
    guard !isOn else {
      return messages.note(
        "the slots of each machine get into the store when it meets that next: 'kura sync'")
    }
    messages.note(
      "each machine puts the recovery key alone in the place of the slots that it left in the store, when"
        + " it meets that next: 'kura sync'")
    messages.suggest(
      "'kura sync compact' names whom that waits for; who kept what was there can guess at the passcode"
        + " on: 'kura rekey' gives the vault a key that nobody has who guesses right")
  }
}
