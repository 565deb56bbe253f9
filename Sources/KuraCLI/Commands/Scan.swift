// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Does `kura scan`: finds the vault's values in files.
enum Scan {
  static let command = Command(
    "scan", [.init("PATH", .atLeastOne)], abstract: "find the vault's values in files",
    options: StoredNeedles.options + [Option.json], unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let isJSON = invocation.arguments.has(.json)
    var paths: [String] = []
    for index in invocation.arguments.operands.indices {
      paths.append(try invocation.operand(index))
    }
    let set = try StoredNeedles.read(invocation)
    var search = try FileSearch(invocation.messages)
    if isJSON {
      try invocation.output.openDocument()
      try invocation.output.key("found")
      try invocation.output.openArray()
    }
    var count = 0
    for path in paths {
      try search.search(path, set) { path, line throws(CommandError) in
        count += 1
        try write(path, line, isJSON, &invocation.output)
      }
    }
    if isJSON {
      try invocation.output.closeArray()
      try invocation.output.closeDocument()
    }
    return search.unread > 0 ? .inputOutput : count > 0 ? .failure : .ok
  }

  private static func write(
    _ path: String, _ line: ValueLines.Line, _ isJSON: Bool, _ output: inout Output
  ) throws(CommandError) {
    guard isJSON else {
      try output.write(line: path)
      try output.write(":\(line.number): ")
      try output.write(line.name.span)
      return try output.write("\n")
    }
    try output.openObject()
    try output.member("path", path)
    try output.member("line", line.number)
    try output.member("name", bytes: line.name.span)
    try output.closeObject()
  }
}
