// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraStore

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
        "'kura passcode' makes guesses cost more; 'kura sync init --slots recovery REMOTE' leaves none in "
        + "the store, of a vault that is not shared yet; 'kura sync init --weak REMOTE' begins all the same"
    }
    if case .labelInvalid(let rule) = refusal {
      text = "a label " + rule.text
      hint = "nothing was changed; choose another one for '--label'"
    }
    if refusal.failure == .recoveryKeyNeeded {
      text =
        "the store would get the recovery key alone, and the vault has none; nothing was changed"
      hint = "'kura slot add recovery-key' makes one"
    }
    if refusal.failure == .passcodesInStore {
      self = .passcodesThere
      return
    }
    if refusal.failure == .unsupported {
      text = "the vault is not shared"
      hint = "begin by 'kura sync init REMOTE'"
    }
  }

  /// Why a vault does not meet its store.
  init(meeting error: ClientError) {
    self.init(error)
    guard case .refused(.vaultExists(.text(let place))) = error else { return }
    text =
      "this machine has another file of this vault: " + SyncWords.harmless(place)
      + ", and of two that meet the store in turn each would be another machine every time"
    hint =
      "nothing was sent; lock that one, and 'kura merge FILE' brings what it has into this one; then move it to where "
      + "no vault is used; 'kura clone OUT' makes another vault"
  }

  /// Whoever has no store is told how to get one.
  static let noStore = SyncFailure(
    .failure, "this machine knows no store of the vault",
    hint: "share it by a folder: 'kura sync init dir:FOLDER'")

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
    let (text, hint) = error.words(of: remote, again: again)
    self.init(.inputOutput, text, hint: hint)
  }

  /// Why a store cannot be joined.
  init(joining error: StoreError, at remote: String) {
    let (text, hint) = error.words(of: remote, again: Self.joinAgain)
    let isAbsent =
      switch error {
      case .missing, .notAFolder, .empty: true
      case .readOnly, .full, .denied, .crowded, .noProgram, .unknown, .unprepared, .unreachable,
        .refused, .untrusted, .other, .system:
        false
      }
    self.init(.inputOutput, text, hint: isAbsent ? Self.joinAgain : hint)
  }

  private static let joinAgain =
    "nothing was made; is it mounted, and carried here? then run 'kura sync join' again"
}

extension StoreError {
  /// What is wrong, and what to do.
  ///
  /// - Parameters:
  ///   - remote: The store as people write it.
  ///   - again: What is said where nothing is to be done but to wait.
  fileprivate func words(of remote: String, again: String) -> (text: String, hint: String) {
    switch self {
    case .missing(let path):
      return (
        "there is no folder " + SyncWords.harmless(path),
        "is it mounted, or was it moved? 'kura sync init dir:FOLDER' names another one"
      )
    case .notAFolder(let path):
      return (
        SyncWords.harmless(path) + " is no folder, or a link to one",
        "move it away, or share by another folder: 'kura sync init dir:FOLDER'"
      )
    case .empty(let path):
      return (
        "nothing of this vault is in " + SyncWords.harmless(path),
        "is it mounted, and carried here? 'kura sync init " + SyncWords.harmless(remote)
          + "' begins there anew"
      )
    case .readOnly(let path):
      return (SyncWords.harmless(path) + " can only be read, so that nothing went out", again)
    case .full(let path): return ("there is no room left for " + SyncWords.harmless(path), again)
    case .denied(let path):
      return (
        "this user may not use " + SyncWords.harmless(path), "look at its permissions; " + again
      )
    case .crowded(let path):
      return (
        "more files than a vault can have are in " + SyncWords.harmless(path),
        "something else writes there: move it away"
      )
    case .noProgram(let name, let package):
      return (
        "the program " + name + ", by which the store is reached, is not on this machine",
        "it is the package " + package
      )
    case .unknown(let path):
      return (
        "rclone has no remote for " + SyncWords.harmless(path),
        "'rclone listremotes' says which there are, and 'rclone config' makes one"
      )
    case .unprepared(let path):
      return (
        "the database at " + SyncWords.harmless(path) + " has no tables for vaults",
        "'kura sync sql' prints what makes them, for its owner to give to psql"
      )
    case .unreachable(let path, let said):
      return (
        "nothing answers at " + SyncWords.harmless(path) + ": " + SyncWords.harmless(said), again
      )
    case .refused(let path, let said):
      return (
        SyncWords.harmless(path) + " does not let us in: " + SyncWords.harmless(said),
        "look at the credentials that are given to it; " + again
      )
    case .untrusted(let path, let said):
      return (
        SyncWords.harmless(path) + " does not show that it is the one that is meant: "
          + SyncWords.harmless(said),
        "its certificate, or what it is checked with, is wrong: nothing went there"
      )
    case .other(let path, let said):
      return (SyncWords.harmless(path) + ": " + SyncWords.harmless(said), again)
    case .system(let number, let path):
      return (SyncWords.harmless(path) + ": " + SystemMessage.text(number), again)
    }
  }
}

/// Does what asks the agent, with failures for people.
func asking<Value: ~Copyable>(
  _ body: () throws(ClientError) -> Value
) throws(SyncFailure) -> Value {
  do throws(ClientError) { return try body() } catch { throw SyncFailure(error) }
}
