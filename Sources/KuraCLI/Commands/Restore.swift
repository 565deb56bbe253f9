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
    var files: [String] = []
    let new = try invocation.access().unlocked { connection throws(ClientError) -> UInt64? in
      files = try Attachments.removed(with: name, &connection)
      guard files.count <= Attachments.most else { return nil }
      return try connection.restore(name, revision: revision, ifRevision: wanted, files: files)
    }
    guard let new else { throw Attachments.tooMany(files.count, of: name) }
    var words = Diagnostic.shown(name) + " is at revision \(new) now"
    if !files.isEmpty {
      words += ", and \(files.count) " + (files.count == 1 ? "file" : "files") + " with it"
    }
    invocation.messages.note(words)
    return .ok
  }
}
