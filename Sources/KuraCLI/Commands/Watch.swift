// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Does `kura watch`: tells of each lock and unlock, as it comes.
enum Watch {
  static let command = Command(
    "watch", abstract: "print a line at each lock and unlock, with its reason",
    options: [
      Option(.until, .required("STATE"), help: "end once the vault is locked or unlocked"),
      Option.json,
    ],
    run: run)

  /// Says how the vault is, and since when.
  private struct State {
    let isUnlocked: Bool
    var reason: LockReason?
    var since: UInt64 = 0

    /// Whether that is worth a line behind the last one. An agent that comes back knows of no lock before.
    func isNews(after told: State?) -> Bool {
      guard let told, told.isUnlocked == isUnlocked else { return true }
      return since != told.since && since != 0 && reason != .neverUnlocked
    }
  }

  /// How long a locked vault is waited for at a time, in ms.
  private static let patience: UInt64 = 3_600_000
  /// How long an agent that is gone has to come back before it is looked for again, in ms.
  private static let pause: Int32 = 500

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    let end = try end(invocation)
    var told: State?
    while true {
      do throws(CommandError) {
        guard var connection = try access.connectAnswering() else { throw .client(.noAgent) }
        while true {
          let state = try state(connection: &connection)
          try tell(state, &told, access, &invocation)
          if state.isUnlocked == end { return .ok }
          try awaitChange(of: state, &connection)
        }
      } catch {
        guard error == .client(.noAgent) || error == .client(.hungUp) else { throw error }
        // Who held the key is gone.
        if told?.isUnlocked != false {
          let reason: LockReason? = told == nil ? nil : .signal
          try tell(State(isUnlocked: false, reason: reason), &told, access, &invocation)
        }
        if end == false { return .ok }
        kura_pause(pause)
      }
    }
  }

  /// What is waited for: true for unlocked; nil for the end of the command.
  private static func end(_ invocation: borrowing Invocation) throws(CommandError) -> Bool? {
    guard let word = invocation.arguments.value(.until) else { return nil }
    if word.elementsEqual("unlocked".utf8) { return true }
    if word.elementsEqual("locked".utf8) { return false }
    throw .usage("--until takes locked or unlocked, not " + Diagnostic.quoted(word))
  }

  private static func state(connection: inout Connection) throws(CommandError) -> State {
    let report = try running { () throws(ClientError) in try connection.status() }
    return State(
      isUnlocked: report.state == .unlocked, reason: report.lockReason, since: report.since)
  }

  /// Returns when it may be otherwise.
  private static func awaitChange(
    of state: State, _ connection: inout Connection
  ) throws(CommandError) {
    do throws(ClientError) {
      guard state.isUnlocked else { return try connection.wait(milliseconds: patience) }
      try connection.beginWatch()
      while !kura_terminal_await(connection.watched, -1) {}
      try connection.endWatch()
    } catch {
      guard case .refused(.locked) = error else { throw .client(error) }
    }
  }
}

// MARK: - Lines

extension Watch {
  private static func tell(
    _ state: State, _ told: inout State?, _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    guard state.isNews(after: told) else { return }
    told = state
    if invocation.arguments.has(.json) {
      try writeJSON(state, access, &invocation.output)
    } else {
      let since = state.since == 0 ? Clock.unix() : state.since
      let reason = state.reason.map { " (" + $0.text + ")" } ?? ""
      try invocation.output.write(
        Moment.local(since) + (state.isUnlocked ? " unlocked" : " locked" + reason) + "\n")
    }
    try invocation.output.flush()
  }

  private static func writeJSON(
    _ state: State, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("vault", access.vault.path)
    try output.member("state", state.isUnlocked ? "unlocked" : "locked")
    if let reason = state.reason, !state.isUnlocked { try output.member("reason", reason.word) }
    if state.since > 0 { try output.member("since", moment: state.since) }
    try output.closeDocument()
  }
}
