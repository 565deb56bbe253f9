// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Tells what went wrong, and what to do next.
struct SyncFailure: Error, Equatable, Sendable {
  var status: ExitStatus
  var text: String
  var hint: String?

  init(_ status: ExitStatus, _ text: String, hint: String? = nil) {
    (self.status, self.text, self.hint) = (status, text, hint)
  }

  init(_ error: ClientError) {
    self.init(error.exitStatus, error.description)
    // Who never unlocked has no agent.
    if error == .noAgent { self = .locked }
    guard case .refused(let refusal) = error else { return }
    if refusal.failure == .locked { self = .locked }
    if refusal.failure == .busy {
      text = "another sync is at it, or the vault is busy"
      hint = "try again in a moment: 'kura sync'"
    }
    if refusal.failure == .kdfTooWeak {
      text = "a passcode of the vault could be guessed by who has what the store has"
      hint =
        "'kura passcode' makes guesses cost more; 'kura sync init --weak dir:FOLDER' begins all the same"
    }
    if refusal.failure == .unsupported {
      text = "the vault is not shared"
      hint = "begin by 'kura sync init dir:FOLDER'"
    }
  }

  /// Nothing is taken while nothing can be opened.
  static let locked = SyncFailure(
    .locked, "the vault is locked: what is in the store waits there",
    hint: "run 'kura unlock', then 'kura sync'")
}

// MARK: - Of the store

extension SyncFailure {
  /// Why a store does not do what it was asked for.
  ///
  /// - Parameter remote: As people write it.
  init(_ error: StoreError, at remote: String) {
    let again = "what has come stays; 'kura sync' goes on when it can be used"
    switch error {
    case .missing(let path):
      self.init(
        .inputOutput, "there is no folder " + SyncWords.harmless(path),
        hint: "is it mounted, or was it moved? 'kura sync init dir:FOLDER' names another one")
    case .notAFolder(let path):
      self.init(
        .inputOutput, SyncWords.harmless(path) + " is no folder, or a link to one",
        hint: "move it away, or share by another folder: 'kura sync init dir:FOLDER'")
    case .empty(let path):
      self.init(
        .inputOutput, "nothing of this vault is in " + SyncWords.harmless(path),
        hint: "is it mounted, and carried here? 'kura sync init "
          + SyncWords.harmless(remote) + "' begins there anew")
    case .readOnly(let path):
      self.init(
        .inputOutput, SyncWords.harmless(path) + " can only be read, so that nothing went out",
        hint: again)
    case .full(let path):
      self.init(
        .inputOutput, "there is no room left for " + SyncWords.harmless(path), hint: again)
    case .denied(let path):
      self.init(
        .inputOutput, "this user may not use " + SyncWords.harmless(path),
        hint: "look at its permissions; " + again)
    case .crowded(let path):
      self.init(
        .inputOutput, "more files than a vault can have are in " + SyncWords.harmless(path),
        hint: "something else writes there: move it away")
    case .system(let number, let path):
      self.init(
        .inputOutput, SyncWords.harmless(path) + ": " + SystemMessage.text(number), hint: again)
    }
  }
}

/// Does what asks the agent, with failures for people.
func asking<Value: ~Copyable>(
  _ body: () throws(ClientError) -> Value
) throws(SyncFailure) -> Value {
  do throws(ClientError) { return try body() } catch { throw SyncFailure(error) }
}
