// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// What each refusal of the agent means to a person.
extension Diagnostic {
  init(_ refused: Refused) {
    let words: Words
    switch refused.failure.rawValue {
    case 0..<16: words = Self.agentWords(refused)
    case 16..<32: words = Self.vaultWords(refused)
    case 32..<48: words = Self.credentialWords(refused)
    case 72..<76: words = Self.ownerWords(refused)
    case 91..<95: words = Self.fileWords(refused)
    default: words = Self.itemWords(refused)
    }
    self.init(words.message, hint: words.hint, refused.failure.exitStatus)
  }

  static func named(_ text: String) -> String {
    text.utf8.isEmpty ? "" : ": " + shown(text)
  }

  private static func agentWords(_ refused: Refused) -> Words {
    switch refused.failure {
    case .malformed:
      ("the agent did not understand the request", "kura and kura-agent may be of two releases")
    case .otherVersion:
      (
        "the agent is of another release and does not speak this one's protocol",
        "run 'kura agent stop', then try again"
      )
    case .unsupported:
      (
        "this release does not do that" + named(refused.text),
        "use the release that wrote the vault"
      )
    case .stopping: ("the agent is ending", "try again")
    case .busy where refused.detail == 1:
      ("the vault's file is being made shorter", "try again when 'kura verify --compact' has ended")
    case .busy: ("the agent or the vault is busy", "try again in a moment")
    case .timedOut: ("it took too long", "try again in a moment")
    case .outOfMemory: (outOfMemory.message, outOfMemory.hint)
    case .memoryNotLocked:
      (
        "memory could not be kept out of swap, as the agent was told to",
        "raise the limit on locked memory (ulimit -l)"
      )
    default:
      (
        "the agent met a fault of its own" + named(refused.text) + faultCode(refused),
        "if it happens again, report it; nothing was changed"
      )
    }
  }

  /// A code that this release does not know is worth its number.
  private static func faultCode(_ refused: Refused) -> String {
    refused.code == refused.failure.rawValue ? "" : " (code \(refused.code))"
  }

  private static func vaultWords(_ refused: Refused) -> Words {
    switch refused.failure {
    case .locked:
      let locked = Diagnostic(locked: LockFacts(refused))
      return (locked.message, locked.hint)
    case .noVault: return ("there is no vault" + named(refused.text), noVaultHint)
    case .notAVault:
      return ("this is not a vault" + named(refused.text), notAVaultHint)
    case .newerFormat:
      return (
        "the vault has format \(refused.detail), newer than this release",
        "use a newer kura; the file was not touched"
      )
    case .vaultExists:
      return ("a vault exists there already" + named(refused.text), vaultExistsHint)
    case .damaged:
      return (
        "the vault is damaged or was tampered with" + named(refused.text),
        "keep this file, and bring back a backup; 'kura verify' names all that is damaged"
      )
    case .rolledBack, .forked: return rollbackWords(refused)
    case .directoryUnsafe: return unsafeWords(refused)
    case .permissionDenied: return accessWords(refused)
    case .diskFull:
      return ("the disk is full" + named(refused.text), "free some space; nothing was changed")
    case .inputOutput where refused.detail2 == 1: return stateWords(refused)
    case .inputOutput:
      return (
        "input or output failed" + named(refused.text) + errorText(refused.detail),
        "look after the disk; 'kura verify' tells whether the vault is whole"
      )
    default:
      return ("the vault's path cannot be used" + named(refused.text), "name another with --vault")
    }
  }

  static let notAVaultHint =
    "if there was one, bring back a backup; else name another with --vault"
  static let vaultExistsHint = "it was not touched; name another with --vault"
  static let noVaultHint = "'kura init' makes it; 'kura vaults' lists those there are"

  static func errorText(_ number: UInt64) -> String {
    number == 0 ? "" : " (" + SystemMessage.text(Int32(truncatingIfNeeded: number)) + ")"
  }

  private static func rollbackWords(_ refused: Refused) -> Words {
    let when = refused.detail3 == 0 ? "" : ", written " + Moment.local(refused.detail3)
    let place = refused.text.utf8.isEmpty ? "" : " at " + shown(refused.text)
    let newer = "epoch \(refused.detail)" + when + place
    let message =
      refused.failure == .rolledBack
      ? "the vault is an older copy: it is at epoch \(refused.detail2), seen was " + newer
      : "the vault went another way than the one seen before: " + newer
    return (
      message,
      "if you put this copy there yourself, run 'kura unlock --accept-rollback'"
    )
  }
}
