// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Has every agent of the user wipe its keys.
struct Locker {
  /// Says what came of it.
  enum Outcome: Equatable {
    /// The agent has answered: the keys are wiped.
    case locked
    /// The same, but the file is not whole, which is for who copies it.
    case lockedOnly
    /// No agent runs, so nothing is unlocked.
    case noAgent
    /// An agent is there and said nothing, in the time that it had.
    case unanswered
    /// An agent could not be asked, and asking again would not help.
    case failed(ExitStatus)
  }

  /// The vault that the requests name: all are meant.
  let vault: VaultPath

  /// Asks; an answer is waited for for 10 seconds, of each agent.
  func lock(_ reason: LockReason) -> Outcome {
    do throws(ClientError) {
      let isAny = try Connection.toEachAgent(about: vault) { connection throws(ClientError) in
        try connection.lock(reason, scope: .all)
      }
      if !isAny, LookedKeyFiles.areThere {
        var engine = try Connection.open(vault, engine: .own)
        try engine.lock(reason, scope: .all)
      }
      return isAny ? .locked : .noAgent
    } catch { return Self.outcome(error) }
  }

  private static func outcome(_ error: ClientError) -> Outcome {
    switch error {
    case .noAgent: .noAgent
    case .timedOut, .hungUp: .unanswered
    case .refused(let refusal) where refusal.failure.isOfWholeFile: .lockedOnly
    // It has no room for one more client just now.
    case .refused(let refusal) where refusal.failure.exitStatus == .busy: .unanswered
    case .agentMissing, .agentFailed, .agentUnsafe, .otherVersion, .broken, .refused, .path,
      .output, .input, .tooLong, .stopped, .outOfMemory, .agentUnreachable, .programUnstartable,
      .system:
      .failed(error.exitStatus)
    }
  }
}
