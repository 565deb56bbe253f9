// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Answers who types `kura` alone at a terminal: what this is, how the vault stands, and five commands.
enum Welcome {
  /// Writes it, or for no terminal all of the help; no agent and no engine is started for it.
  static func write(_ invocation: inout Invocation) throws(CommandError) {
    guard invocation.output.isTerminal else {
      return try HelpText(for: invocation.output).write(nil, to: &invocation.output)
    }
    let state = Self.state(of: invocation)
    let help = HelpText(for: invocation.output)
    try help.write(
      paragraph:
        "Kura keeps the secrets that your programs need in a vault, and locks it again by itself.",
      to: &invocation.output)
    try invocation.output.write("\n")
    try invocation.output.write(escaped: state.words)
    try invocation.output.write("\n\n")
    for (usage, text) in [state.next] + commands {
      try help.write(row: "  kura " + HelpText.pad(usage, 12), text, to: &invocation.output)
    }
    try invocation.output.write("\n")
    try help.write(
      paragraph:
        "'kura help start' goes on from there, by task; 'kura help' lists every verb;"
        + " 'man kura' has everything.",
      to: &invocation.output)
  }

  private static let commands: [(usage: String, text: String)] = [
    ("put NAME", "store a value: typed twice, or from a pipe"),
    ("get NAME", "write the value, exactly as it was stored"),
    ("run", "run a command with values in its variables"),
    ("lock", "lock the vault now; it locks itself, too"),
  ]

  /// Says how the vault stands, and which command that asks for.
  private struct State {
    let words: String
    let next: (usage: String, text: String)
  }

  private static let unlock = ("unlock", "open it, by its passcode")

  private static func state(of invocation: borrowing Invocation) -> State {
    do throws(CommandError) {
      let access = try invocation.access()
      let path = access.vault.path
      if let report = try report(access) {
        return State(
          words: path + " is " + Status.headline(report),
          next: report.state == .unlocked ? ("list", "list the names of what is in it") : unlock)
      }
      return access.vault.isThere
        ? State(words: path + " is locked", next: unlock)
        : State(words: "there is no vault yet: " + path, next: ("init", "make the vault"))
    } catch {
      return State(
        words: Diagnostic(error).message,
        next: ("doctor", "tell what of this machine is in the way"))
    }
  }

  /// Asks a running agent how the vault stands; nil where none runs, or where there is no vault.
  private static func report(_ access: VaultAccess) throws(CommandError) -> StatusReport? {
    guard var connection = try access.connectHolding() else { return nil }
    do throws(ClientError) { return try connection.status() } catch {
      guard case .refused(let refused) = error, refused.failure == .noVault else {
        throw .client(error)
      }
      return nil
    }
  }
}
