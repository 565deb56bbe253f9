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
      Option(.unsorted, help: "as they come, without waiting for the last"),
      Option.json,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in
      try arguments.refuse(.keep, with: .json, .unsorted)
    }
    let name = arguments.operands.isEmpty ? nil : try invocation.operand(0)
    if arguments.has(.keep) { return try keep(name, &invocation) }
    let access = try invocation.access()
    let isJSON = arguments.has(.json)
    if arguments.has(.unsorted) {
      try writeUnsorted(name, isJSON, access, &invocation.output)
    } else {
      let sorter = try sorted(name, isJSON, access, invocation.output)
      try open(isJSON, &invocation.output)
      try sorter.visit { _, line throws(CommandError) in
        try invocation.output.element(written: line, isJSON: isJSON)
      }
    }
    try close(isJSON, &invocation.output)
    return .ok
  }

  /// The conflicts of an item, or of all, as they are to be written, by name.
  private static func sorted(
    _ name: String?, _ isJSON: Bool, _ access: VaultAccess, _ output: borrowing Output
  ) throws(CommandError) -> ItemSorter {
    var sorter = ItemSorter()
    var page = try Output.page(isTerminal: output.isTerminal)
    try access.unlocked { connection throws(ClientError) in
      try connection.conflicts(of: name) { conflict throws(ClientError) in
        try writing { () throws(CommandError) in try write(conflict, isJSON, &page) }
        // No name has a NUL.
        let key = Array(conflict.name.utf8) + [0, conflict.part.rawValue]
        page.take { sorter.append(key.span, $0) }
      }
    }
    return sorter
  }

  private static func writeUnsorted(
    _ name: String?, _ isJSON: Bool, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    var isOpen = false
    try access.unlocked { connection throws(ClientError) in
      try connection.conflicts(of: name) { conflict throws(ClientError) in
        try writing { () throws(CommandError) in
          if !isOpen { try open(isJSON, &output) }
          isOpen = true
          try write(conflict, isJSON, &output)
        }
      }
    }
    if !isOpen { try open(isJSON, &output) }
  }

  /// In what copies do not agree on an item.
  private static func parts(
    of name: String, _ access: VaultAccess
  ) throws(CommandError) -> [ConflictPart] {
    var parts: [ConflictPart] = []
    try access.unlocked { connection throws(ClientError) in
      parts = []
      try connection.conflicts(of: name) { parts.append($0.part) }
    }
    return parts
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
    let parts = try parts(of: name, access)
    guard !parts.isEmpty else {
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
    if wanted != 0, parts.contains(.name) {
      invocation.messages.suggest(
        "its name stays as it was shown: 'kura mv OLD NEW' gives it another one")
    }
    return .ok
  }
}

// MARK: - Writing

extension Conflicts {
  private static func open(_ isJSON: Bool, _ output: inout Output) throws(CommandError) {
    guard isJSON else { return }
    try output.openDocument()
    try output.key("conflicts")
    try output.openArray()
  }

  private static func close(_ isJSON: Bool, _ output: inout Output) throws(CommandError) {
    guard isJSON else { return }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func write(
    _ conflict: Conflict, _ isJSON: Bool, _ output: inout Output
  ) throws(CommandError) {
    if isJSON { try writeJSON(conflict, &output) } else { try write(conflict, &output) }
  }

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
    _ conflict: Conflict, _ output: inout Output
  ) throws(CommandError) {
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
}
