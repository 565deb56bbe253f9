// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Does `kura scan`: finds the vault's values in files.
enum Scan {
  static let command = Command(
    "scan", [.init("PATH", .any)], abstract: "find the vault's values in files",
    options: StoredNeedles.options + [
      Option(.staged, help: "in what git has staged for the next commit"), Option.json,
    ], unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let isJSON = invocation.arguments.has(.json)
    var paths: [String] = []
    for index in invocation.arguments.operands.indices {
      paths.append(try invocation.operand(index))
    }
    let isStaged = invocation.arguments.has(.staged)
    guard isStaged == paths.isEmpty else {
      guard isStaged else { throw .usage(.operandMissing("PATH", verb: command.verb)) }
      throw .usage(
        "--staged looks into what git has staged, and takes no PATH",
        hint: "leave out the one or the other")
    }
    let set = try StoredNeedles.read(invocation)
    var search = try FileSearch(invocation.messages)
    if isJSON {
      try invocation.output.openDocument()
      try invocation.output.key("found")
      try invocation.output.openArray()
    }
    var count = 0
    if isStaged {
      try StagedSearch(invocation.variables).search(set) { path, line throws(CommandError) in
        count += 1
        try write(path, line, isJSON, &invocation.output)
      }
    }
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
    _ path: [UInt8], _ line: ValueLines.Line, _ isJSON: Bool, _ output: inout Output
  ) throws(CommandError) {
    guard isJSON else {
      try output.write(escaped: path.span)
      try output.write(":\(line.number): ")
      try output.write(line.name.span)
      return try output.write("\n")
    }
    try output.openObject()
    try output.member("path", bytes: path.span)
    try output.member("line", line.number)
    try output.member("name", bytes: line.name.span)
    try output.closeObject()
  }
}
