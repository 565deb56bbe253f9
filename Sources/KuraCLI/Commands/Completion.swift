// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura completion`: prints the scripts by which shells complete what is typed, and answers
/// these.
enum Completion {
  static let command = Command(
    "completion", [.init("bash|zsh|fish|words"), .init("WORD", .any)],
    abstract: "print the script by which a shell completes words", run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let operands = invocation.arguments.operands
    let word = operands[0]
    if word.elementsEqual("words".utf8) {
      try write(LineCompletion(Array(operands.dropFirst())), &invocation)
      return .ok
    }
    guard let shell = Shell.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word) }) else {
      throw .usage(
        "there is no completion for " + Diagnostic.quoted(word), hint: "say bash, zsh or fish")
    }
    if operands.count > 1 { throw .usage(.operandUnexpected(operands[1], verb: command.verb)) }
    try invocation.output.write(shell.script)
    return .ok
  }

  /// One line a candidate, its help behind a tab; `:files` and `:command` are the shell's to find.
  private static func write(
    _ line: LineCompletion, _ invocation: inout Invocation
  ) throws(CommandError) {
    switch line.candidates {
    case .words(let words):
      for word in words where word.text.utf8.starts(with: line.current) {
        let help = word.help.utf8.isEmpty ? "" : "\t" + word.help
        try invocation.output.write(word.text + help + "\n")
      }
    case .itemNames: try write(names: line, &invocation)
    case .itemNamesAndDeleted:
      try write(names: line, &invocation)
      try write(names: line, with: [.deleted], &invocation)
    case .vaultNames(let head):
      let prefix = String(decoding: head, as: UTF8.self)
      for name in vaultNames() { try write(prefix + name, startingWith: line.current, &invocation) }
    case .references(let head): try write(references: line, behind: head, &invocation)
    case .files: try invocation.output.write(":files\n")
    case .command: try invocation.output.write(":command\n")
    case .nothing: return
    }
  }

  private static func write(
    _ text: String, startingWith start: some Collection<UInt8>, _ invocation: inout Invocation
  ) throws(CommandError) {
    guard text.utf8.starts(with: start) else { return }
    try invocation.output.write(line: text)
    try invocation.output.write("\n")
  }
}

// MARK: - Names

extension Completion {
  private static func write(
    names line: LineCompletion, with flags: ListRequest.Flags = [],
    _ invocation: inout Invocation
  ) throws(CommandError) {
    let names = itemNames(try vault(line), line.current, flags)
    for name in names { try write(name, startingWith: line.current, &invocation) }
  }

  private static func write(
    references line: LineCompletion, behind head: [UInt8], _ invocation: inout Invocation
  ) throws(CommandError) {
    let start = ItemReference.scheme + "@"
    let typed = line.current.dropFirst(head.count)
    let prefix = String(decoding: head, as: UTF8.self)
    var vault = try vault(line)
    var base = ItemReference.scheme
    if typed.starts(with: start.utf8) {
      let rest = typed.dropFirst(start.utf8.count)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else {
        for name in vaultNames() {
          let text = start + ItemReference.escaped(name) + "/"
          try write(prefix + text, startingWith: line.current, &invocation)
        }
        return
      }
      guard let reference = try? ItemReference(bytes: Array(typed[...slash]) + [UInt8(ascii: "x")])
      else { return }
      vault = reference.vault.flatMap { try? VaultPath.named($0) }
      base = String(decoding: typed[...slash], as: UTF8.self)
    }
    for name in itemNames(vault, []) {
      let text = prefix + base + ItemReference.escaped(name)
      try write(text, startingWith: line.current, &invocation)
    }
  }

  private static func vault(_ line: LineCompletion) throws(CommandError) -> VaultPath? {
    let given = try line.vault.map { text throws(CommandError) in try Invocation.text(text) }
    return try? VaultPath.resolve(given)
  }

  /// The names in a vault that is unlocked. Nobody is asked and nothing is unlocked or started; and
  /// listing is no use that keeps a vault unlocked.
  private static func itemNames(
    _ vault: VaultPath?, _ start: [UInt8], _ flags: ListRequest.Flags = []
  ) -> [String] {
    var names: [String] = []
    guard let vault, let prefix = String(validating: start, as: UTF8.self) else { return [] }
    do throws(ClientError) {
      var connection = try Connection.open(vault, engine: .running)
      var order = ListOrder()
      order.prefix = prefix
      order.flags = flags
      try connection.list(order) { item throws(ClientError) in names.append(item.name) }
    } catch { return [] }
    return names
  }

  private static func vaultNames() -> [String] {
    guard let directory = try? UserDirectory.data(),
      let vaults = try? VaultDirectory.vaults(in: directory)
    else { return [] }
    return vaults.compactMap { $0.name }
  }
}
