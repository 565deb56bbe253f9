// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Gives what was chosen to whoever asked for it: its name on standard output, or what a command makes of it.
struct Choice {
  let name: String
  /// What is done with it, in place of printing its name.
  let verb: String?

  /// Does it, when nothing stands on the terminal any more; the status to exit with.
  func give(_ vault: VaultPath, terminal: Int32) -> Int32 {
    if let verb {
      let (status, said) = Companion.run(
        [verb, "--", name], vault, terminal: terminal, output: 1)
      if !said.isEmpty { ScreenCalls.write("kura: " + said + "\n", to: 2) }
      return status
    }
    do throws(FileError) { try Descriptor.write((name + "\n").utf8.span, to: 1) } catch {
      return ScreenProgram.say(
        "the name cannot be written: " + SystemMessage.text(error.errno), .inputOutput)
    }
    return 0
  }
}
