// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura conflicts`: lists what copies of the vault do not agree on, or settles it for an item.
enum Conflicts {
  static let command = Command(
    "conflicts", [.init("NAME", .optional)],
    abstract: "list what merged copies do not agree on, or choose",
    options: [
      Option(.keep, .required("WHICH"), help: "of NAME: shown, or the number of a revision"),
      Option.json,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try arguments.refuse(.json, with: .keep) }
    let name = arguments.operands.isEmpty ? nil : try invocation.operand(0)
    if arguments.has(.keep) { return try keep(name, &invocation) }
    let conflicts = try find(name, try invocation.access())
    if arguments.has(.json) {
      try writeJSON(conflicts, &invocation.output)
    } else {
      for conflict in conflicts { try write(conflict, &invocation.output) }
    }
    return .ok
  }

  /// The conflicts of an item, or of all.
  private static func find(
    _ name: String?, _ access: VaultAccess
  ) throws(CommandError) -> [Conflict] {
    var conflicts: [Conflict] = []
    try access.unlocked { connection throws(ClientError) in
      // As the vault has it, not as it was typed.
      let wanted: String? = if let name { try connection.show(name).item.name } else { nil }
      conflicts = try connection.conflicts().filter { wanted == nil || $0.name == wanted }
    }
    return conflicts
  }

  private static func keep(
    _ name: String?, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    guard let name else {
      throw .usage("--keep goes with a NAME", hint: "'kura conflicts' lists the names")
    }
    let which = try invocation.text(.keep) ?? ""
    let arguments = invocation.arguments
    let wanted =
      which == "shown"
      ? 0
      : try parsing { () throws(UsageError) in
        try arguments.number(.keep, atLeast: UInt64(1)) ?? 0
      }
    let access = try invocation.access()
    guard try !find(name, access).isEmpty else {
      invocation.messages.note(
        "copies agree on " + Diagnostic.shown(name) + ": nothing was changed")
      return .ok
    }
    let new = try access.unlocked { connection throws(ClientError) in
      let current = try connection.show(name).item.facts.revision
      return try connection.restore(
        name, revision: wanted == 0 ? current : wanted, ifRevision: current)
    }
    invocation.messages.note(
      Diagnostic.shown(name) + " is settled, at revision \(new) now; what it had is in its history")
    return .ok
  }
}

// MARK: - Writing

extension Conflicts {
  private static func write(_ conflict: Conflict, _ output: inout Output) throws(CommandError) {
    try output.write(line: conflict.name)
    try output.write("\t" + conflict.part.word + "\t")
    switch conflict.part {
    case .value, .name: try output.write("revision \(conflict.revision) has another")
    case .attribute:
      try output.write(line: conflict.text)
      try output.write(": revision \(conflict.revision) has another, or none")
    case .deletion: try output.write("deleted in one copy, changed in another")
    case .purge: try output.write("purged in one copy, changed in another")
    case .place:
      try output.write("another item has its name, ")
      try output.write(line: conflict.text)
    }
    try output.write("\n")
  }

  private static func writeJSON(
    _ conflicts: [Conflict], _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.key("conflicts")
    try output.openArray()
    for conflict in conflicts {
      try output.openObject()
      try output.member("name", conflict.name)
      try output.member("part", conflict.part.word)
      switch conflict.part {
      case .value, .name: try output.member("revision", conflict.revision)
      case .attribute:
        try output.member("key", conflict.text)
        try output.member("revision", conflict.revision)
      case .deletion, .purge: break
      case .place: try output.member("wanted", conflict.text)
      }
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
  }
}
