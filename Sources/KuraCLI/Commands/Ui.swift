// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura ui`: becomes the program that shows the vault on the whole terminal.
enum Ui {
  static let command = Command(
    "ui", abstract: "show the vault on the whole terminal",
    options: [
      Option(.linear, help: "lines and questions in place of a screen")
    ], run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let words = invocation.arguments.has(.linear) ? ["--linear"] : []
    throw try become(words, try invocation.agentAccess(verb: command.verb))
  }

  /// Becomes that program.
  ///
  /// - Returns: Only when that fails: why.
  static func become(_ words: [String], _ access: VaultAccess) throws(CommandError) -> CommandError
  {
    guard let program = System.companion("kura-ui") else {
      throw .failure(
        "the program kura-ui is not installed beside kura",
        hint: "it is the package kura-ui; all else works without it")
    }
    let failed = System.become(
      program, [program, "--vault", access.vault.name ?? access.vault.path] + words)
    return .client(.programUnstartable(path: program, errno: -failed))
  }
}
