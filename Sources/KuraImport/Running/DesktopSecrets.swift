// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraTerms

/// Has kura-desktop read what the desktop's keeper of secrets has.
enum DesktopSecrets {
  private static let name = "kura-desktop"

  /// All that it writes of that, as ``KeeperSource`` has it.
  static func read() throws(ImportFailure) -> [UInt8] {
    guard let program = System.companion(name) else {
      throw ImportFailure(
        .failure, "the program kura-desktop is not installed beside kura-import",
        hint: "it is the package kura-desktop; it reads the session bus for this format")
    }
    guard let answer = ProgramOutput.read(program, [name, "secrets"]) else {
      throw ImportFailure(ReadingFlaw(.tooLarge), in: .secretService)
    }
    if answer.status == 0 { return answer.content }
    if answer.status == Int32(ExitStatus.notFound.rawValue) {
      throw ImportFailure(
        .failure, "nobody on the session bus keeps secrets",
        hint:
          "start gnome-keyring or KWallet, or let KeePassXC serve secrets: it is in its settings")
    }
    throw ImportFailure(
      .inputOutput, "the desktop's secrets cannot be read",
      hint: "nothing was changed; 'kura-desktop secrets > /dev/null' says why")
  }
}
