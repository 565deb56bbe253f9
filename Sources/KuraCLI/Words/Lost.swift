// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient

/// Says what is known of work of the agent's whose end this command did not see.
enum Lost: Equatable, Sendable {
  /// A rekey that was not yet told to begin.
  case unbegunRekey
  /// A rekey, and where its new recovery key is.
  case rekey(RecoveryKeeper.Place)
  case rotation
  /// A clone, and where it is to stand.
  case clone(String)
}

extension Lost {
  /// The failure of a command that waited for it; only of one that did not hear the end.
  func from(_ error: ClientError) -> CommandError {
    error.leavesEndOpen ? .lost(self, error) : .client(error)
  }

  /// Has an interrupt say what is known, until ``withdraw()``.
  func announceAtInterrupt(_ messages: Messages) {
    guard let text = interruption, self != .rotation || !messages.isQuiet else { return }
    let bytes = Array((messages.isTerminal ? "\n" : "").utf8) + Array(text.utf8)
    System.interruptSays(bytes)
  }

  /// An interrupt ends the command without a word again.
  func withdraw(_ messages: Messages) {
    guard interruption != nil, self != .rotation || !messages.isQuiet else { return }
    kura_interrupt_says_nothing()
  }

  private var interruption: String? {
    switch self {
    case .unbegunRekey: nil
    case .rekey: "kura: warning: the rekey may have been done; " + hint + "\n"
    case .clone: "kura: warning: the clone may have been made; " + hint + "\n"
    case .rotation: "kura: notice: " + hint + "\n"
    }
  }
}

extension ClientError {
  /// Whether the agent may have done what it was asked for, and did not say so.
  var leavesEndOpen: Bool {
    switch self {
    case .hungUp, .timedOut, .broken, .system: true
    case .noAgent, .agentMissing, .agentFailed, .agentUnsafe, .otherVersion, .refused, .path,
      .output, .input, .tooLong, .stopped, .outOfMemory, .agentUnreachable, .programUnstartable:
      false
    }
  }
}
