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
    // Where the passcode is asked for a file, the item has its new name already.
    var isSame: Bool?
    try invocation.access().owned(to: purpose) { connection, word throws(ClientError) in
      if isSame == nil {
        isSame = try connection.move(old, to: new, replacing: replaces, by: word)
      }
      guard isSame == false else { return }
      for name in try Attachments.find(of: [old], &connection) {
        let renamed = Attachments.name(name, of: old, movedTo: new)
        _ = try connection.move(name, to: renamed, replacing: replaces, by: word)
      }
    }
    if isSame == true { invocation.messages.note("it has that name already; nothing was changed") }
    return .ok
  }
}
