// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura history`: prints the revisions of an item, deleted or not.
enum History {
  static let command = Command(
    "history", [.init("NAME")], abstract: "list an item's revisions, the current one last",
    options: [
      Option(.long, letter: "l", help: "with class, and the name that each had"), Option.json,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try arguments.refuse(.json, with: .long) }
    let name = try invocation.operand(0)
    let access = try invocation.access()
    var items: [Item] = []
    try access.unlocked { connection throws(ClientError) in
      items = []
      try connection.history(name) { item throws(ClientError) in items.append(item) }
    }
    if arguments.has(.json) {
      try writeJSON(items, &invocation.output)
    } else {
      for item in items {
        try write(item, isLong: arguments.has(.long), &invocation.output)
      }
    }
    return .ok
  }

  private static func write(
    _ item: Item, isLong: Bool, _ output: inout Output
  ) throws(CommandError) {
    let facts = item.facts
    let isDeleted = facts.kind == .deleted
    let size = isDeleted ? "deleted" : ByteSize(count: facts.size).words
    try output.write(
      Listing.padded("\(facts.revision)", 4) + "  " + Moment.local(facts.modified)
        + Listing.padded(size, 12))
    if isLong {
      try output.write("  " + HelpText.pad(facts.protection.name, 11))
      try output.write(line: item.name)
    }
    try output.write("\n")
  }

  private static func writeJSON(_ items: [Item], _ output: inout Output) throws(CommandError) {
    try output.openDocument()
    try output.key("revisions")
    try output.openArray()
    for item in items {
      let facts = item.facts
      try output.openObject()
      try output.member("name", item.name)
      try output.member("revision", facts.revision)
      try output.member("size", facts.size)
      try output.member("created", moment: facts.created)
      try output.member("modified", moment: facts.modified)
      try output.member("class", facts.protection.name)
      try output.member("kind", facts.kind.name)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
  }
}
