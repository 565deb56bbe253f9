// SPDX-License-Identifier: MIT

internal import KuraClient

/// Runs another command of Kura's on behalf of the screen.
enum Companion {
  /// Runs it, and waits for its end.
  ///
  /// - Parameters:
  ///   - words: Its verb and what belongs to that.
  ///   - terminal: Where it works; -1: nowhere.
  ///   - output: Where its output goes; -1: to the terminal, too.
  /// - Returns: Its status, and what it said, but for an editor's, which stays on the terminal.
  static func run(
    _ words: [String], _ vault: VaultPath, terminal: Int32, output: Int32 = -1
  ) -> (status: Int32, said: String) {
    guard let program = path() else { return (127, "the program kura is not beside this one") }
    let command = [program, "--vault", vault.path] + words
    let (status, said) = ScreenCalls.run(
      command, terminal: terminal, output: output, hears: words.first != "edit")
    for prefix in ["kura: error: ", "kura: notice: ", "kura: "] where said.hasPrefix(prefix) {
      return (status, String(said.dropFirst(prefix.count)))
    }
    return (status, said)
  }

  /// The command that copies something of an item.
  static func copying(_ name: String, _ copied: Copied) -> [String] {
    switch copied {
    case .value: ["copy", "--", name]
    case .code: ["copy", "--otp", "--", name]
    case .field(let key): ["copy", "--attr", key, "--", name]
    }
  }

  /// The command beside this program; never by PATH.
  private static func path() -> String? {
    guard let path = try? System.programPath() else { return nil }
    let text = String(decoding: path, as: UTF8.self)
    guard let slash = text.lastIndex(of: "/") else { return nil }
    return String(text[..<slash]) + "/kura"
  }
}
