// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura restore`: brings a deleted item or an earlier revision back.
enum Restore {
  static let command = Command(
    "restore", [.init("NAME")], abstract: "bring a deleted item or an earlier revision back",
    options: [
      Option(.revision, .required("N"), help: "that one, as the next revision"), Option.ifRevision,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let name = try invocation.operand(0)
    let (revision, wanted) = try parsing { () throws(UsageError) in
      (
        try arguments.number(.revision, atLeast: UInt64(1)) ?? 0,
        try arguments.number(.ifRevision, atLeast: UInt64(1)) ?? 0
      )
    }
    let new = try invocation.access().unlocked { connection throws(ClientError) in
      try connection.restore(name, revision: revision, ifRevision: wanted)
    }
    invocation.messages.note(Diagnostic.shown(name) + " is at revision \(new) now")
    return .ok
  }
}
