// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Is what an MCP client can have done: to be told names, and to have a command run that is given values.
struct MCPTools {
  static let instructions =
    "Values are never shown. Call list for the names and commands of this project, and run to have a command do something"
    + " with them; what it prints has names in the place of values."

  /// The answer to tools/list.
  static let list = #"""
    {"tools":[{"name":"list","description":"The names of the items and the commands that this project declares. No values.",\#
    "inputSchema":{"type":"object","properties":{},"additionalProperties":false},\#
    "annotations":{"readOnlyHint":true}},\#
    {"name":"run","description":"Runs a command in a room of its own with the items that it is declared to have: a declared \#
    one by its name, or another one by its words, for which its owner is asked. What it prints is answered, with names in the \#
    place of values.","inputSchema":{"type":"object","properties":{\#
    "command":{"type":"string","description":"the name of a declared command"},\#
    "argv":{"type":"array","items":{"type":"string"},"description":"the words of another command"},\#
    "allow":{"type":"array","items":{"type":"string"},"description":"the items that it is to have, by their declared names"}},\#
    "additionalProperties":false}}]}
    """#

  /// How long the owner is waited for where nobody says otherwise.
  private static let patience = "1m"

  private let record: ApprovedDeclaration
  private let access: VaultAccess
  private let wait: String

  init(
    _ record: ApprovedDeclaration, _ access: VaultAccess, patience: [UInt8]?
  ) throws(CommandError) {
    (self.record, self.access) = (record, access)
    wait =
      try patience.map { bytes throws(CommandError) in try Invocation.text(bytes) }
      ?? Self.patience
  }

  /// What is declared, as text.
  func names() throws(CommandError) -> String {
    let declaration = try Declaration.read(record.path)
    var text = "items, by name:\n"
    for name in declaration.names { text += "  " + name + "\n" }
    text += "commands:\n"
    for entry in declaration.entries {
      text += "  " + entry.name + ": " + entry.line + "\n"
      if !entry.about.isEmpty { text += "    " + entry.about + "\n" }
    }
    text +=
      "others, and these while their owner has not agreed to them, need the owner: 'kura approve'\n"
    return text
  }

  /// The words behind `kura` that run what a client asks for.
  func words(
    _ json: PlainJSON, _ given: PlainJSON.Place?
  ) throws(CommandError) -> [String] {
    let declaration = try Declaration.read(record.path)
    var entry = try wanted(json, given, declaration)
    let isDeclared = given.flatMap { json.member($0, "command") } != nil
    let standing = try standing(of: declaration)
    var words = ["run", "--vault", access.vault.path, "--sandbox", "--mask", "--wait=" + wait]
    if !isDeclared || standing != .approved {
      guard standing != .unknown else {
        throw .failure(
          "the owner has not agreed to any command of " + Diagnostic.shown(record.path),
          hint: "the owner does in that directory: 'kura mcp --approve'",
          .needsInteraction)
      }
      let reason = "runs " + entry.line
      let count = entry.allowed.count + entry.granted.count
      guard reason.utf8.count <= ProtocolLimit.reason, count < WishSummary.few else {
        throw .failure(
          "the command has too much to be shown to its owner at once",
          hint: "declare it in " + Diagnostic.shown(record.path), .denied)
      }
      words += ["--reason", reason]
      // Who asks to run something else asks to read this.
      entry.granted.insert(record.name, at: 0)
    } else if !entry.granted.isEmpty {
      words += ["--reason", "runs " + String(entry.name.prefix(Claim.longest))]
    }
    return words + Self.options(entry) + ["--"] + entry.words
  }

  private static func options(_ entry: Declaration.Entry) -> [String] {
    var words: [String] = []
    for variable in entry.variables { words += ["--env", variable] }
    for name in entry.allowed { words += ["--allow", name] }
    for name in entry.granted { words += ["--grant", name] }
    if entry.hasNetwork { words.append("--network") }
    if entry.isWritable { words.append("--rw") }
    return words
  }

  private func wanted(
    _ json: PlainJSON, _ given: PlainJSON.Place?, _ declaration: Declaration
  ) throws(CommandError) -> Declaration.Entry {
    let command = given.flatMap { json.string(json.member($0, "command")) }
    let argv = given.flatMap { json.strings(json.member($0, "argv")) }
    if let command, argv == nil {
      guard let entry = declaration.entries.first(where: { $0.name == command }) else {
        throw .failure(
          "no command is declared by that name: " + Diagnostic.shown(command),
          hint: "list tells those that are", .notFound)
      }
      return entry
    }
    guard command == nil, let argv, argv.first?.isEmpty == false else {
      throw .usage("it takes either command, a name, or argv, an array of words")
    }
    var entry = Declaration.Entry(name: "")
    entry.words = argv
    entry.granted = given.flatMap { json.strings(json.member($0, "allow")) } ?? []
    let known = declaration.names
    for name in entry.granted where !known.contains(name) {
      throw .failure(
        "this item is not declared: " + Diagnostic.shown(name), hint: "list tells those that are",
        .denied)
    }
    return entry
  }

  /// Nobody is asked here: the terminal, if there is one, is the client's.
  private func standing(
    of declaration: Declaration
  ) throws(CommandError) -> ApprovedDeclaration.Standing {
    guard var connection = try access.connectRunning() else {
      throw .failure("the vault is locked", hint: "its owner unlocks it: 'kura unlock'", .locked)
    }
    return try running { () throws(ClientError) in
      try record.standing(of: declaration, &connection)
    }
  }

  /// What a command has said, and how it ended.
  static func text(_ run: borrowing MCPRun) -> String {
    var text = String(repairing: run.said.span)
    if run.dropped > 0 { text += "\n[\(run.dropped) more bytes were left out]\n" }
    return text
  }
}
