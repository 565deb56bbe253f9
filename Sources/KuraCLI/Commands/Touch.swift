// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura touch`: sets an item's modified time, and nothing else.
enum Touch {
  static let command = Command(
    "touch", [.init("NAME")], abstract: "set the time an item was modified to now",
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let name = try invocation.operand(0)
    let _: RevisionReply = try invocation.access().unlocked { connection throws(ClientError) in
      try connection.ask(.touch(NameRequest(name: name.utf8.span)))
    }
    return .ok
  }
}
