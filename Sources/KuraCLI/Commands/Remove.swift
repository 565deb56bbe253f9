// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// `kura rm`: removes items; their revisions stay in the history.
enum Remove {
  static let command = Command(
    "rm", [.init("NAME", .atLeastOne)], abstract: "remove items; the history keeps their values",
    options: [Option.ifRevision], unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let revision = try parsing { () throws(UsageError) -> UInt64 in
      if arguments.has(.ifRevision), arguments.operands.count > 1 {
        throw .oneNameOnly(.ifRevision)
      }
      return try arguments.number(.ifRevision) ?? 0
    }
    var names: [String] = []
    for index in arguments.operands.indices { names.append(try invocation.operand(index)) }
    let access = try invocation.access()
    for name in names {
      try access.unlocked { connection throws(ClientError) in
        try connection.remove(name, ifRevision: revision)
      }
    }
    return .ok
  }
}
