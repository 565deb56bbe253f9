// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura protect`: from now on an item's value asks for the passcode at each read.
enum Protect {
  static let command = Command(
    "protect", [.init("NAME")], abstract: "ask for the passcode at each read of an item's value",
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let name = try invocation.operand(0)
    let vault = try invocation.access().unlocked { connection throws(ClientError) in
      _ = try connection.protect(name)
      return (try? connection.status())?.vault ?? []
    }
    Sync.tellOfStore(vault, invocation.messages)
    return .ok
  }
}
