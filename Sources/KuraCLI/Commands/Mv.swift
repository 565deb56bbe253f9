// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura mv`: gives an item another name.
enum Mv {
  static let command = Command(
    "mv", [.init("OLD"), .init("NEW")],
    abstract: "rename an item; its revision and its history stay",
    options: [Option(.replace, help: "even if NEW exists; OLD keeps it, deleted")]
      + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let (old, new) = (try invocation.operand(0), try invocation.operand(1))
    let replaces = invocation.arguments.has(.replace)
    let purpose = Purpose("rename", Diagnostic.shown(old))
    var files: [String] = []
    let isSame = try invocation.access().owned(to: purpose) {
      connection, word throws(ClientError) -> Bool? in
      files = try Attachments.find(of: [old], &connection)[0]
      guard files.count <= Attachments.most else { return nil }
      let renamed = files.map { (name: old + $0, new: new + $0) }
      return try connection.move(old, to: new, replacing: replaces, files: renamed, by: word)
    }
    guard let isSame else { throw Attachments.tooMany(files.count, of: old) }
    if isSame { invocation.messages.note("it has that name already; nothing was changed") }
    return .ok
  }
}
