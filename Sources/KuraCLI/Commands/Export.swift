// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura export`: writes items, unencrypted, in a form that others read.
enum Export {
  static let command = Command(
    "export", [.init("FORMAT"), .init("PREFIX", .optional)],
    abstract: "write items unencrypted, for another program or another vault",
    options: [
      Option(
        .output, letter: "o", .required("FILE"), help: "write to FILE (0600), whole or not"),
      Option(.force, help: "write to a terminal, too"),
    ] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let format = try format(try invocation.operand(0))
    let path = try invocation.text(.output)
    if path == nil, invocation.output.isTerminal, !invocation.arguments.has(.force) {
      throw .usage(
        "all values would stand on the terminal",
        hint: "-o FILE writes them to a file, and --force shows them all the same")
    }
    let prefix = invocation.arguments.operands.count > 1 ? try invocation.operand(1) : ""
    let items = try ExportedItems.find(prefix, format, try invocation.access())
    var writer = ExportWriter(items, invocation.messages)
    guard let path else {
      try writer.write(format, &invocation.output)
      return status(of: writer, invocation.messages)
    }
    let file = try writing(path) { () throws(FileError) in try OutputFile.begin(at: path) }
    var output = try Output(descriptor: file.descriptor, isTerminal: false)
    do throws(CommandError) {
      try writer.write(format, &output)
      try output.flush()
    } catch {
      guard case .output(let number) = error else { throw error }
      throw .file(.write, path: path, errno: number)
    }
    do throws(FileError) { try file.commit() } catch {
      throw .file(.write, path: path, errno: error.errno)
    }
    return status(of: writer, invocation.messages)
  }

  private static func format(_ word: String) throws(CommandError) -> ExportFormat {
    for format in ExportFormat.allCases where format.rawValue.utf8.elementsEqual(word.utf8) {
      return format
    }
    var names = ""
    for format in ExportFormat.allCases {
      names += (names.isEmpty ? "" : ", ") + format.rawValue
    }
    throw .usage(
      "there is no format " + Diagnostic.quoted(Array(word.utf8)), hint: "it is one of " + names)
  }

  /// Says how many were written; what was left out was told, and makes the status of a failure.
  private static func status(
    of writer: borrowing ExportWriter, _ messages: Messages
  ) -> ExitStatus {
    let (count, left) = (writer.count, writer.left)
    let words = "exported \(count) " + (count == 1 ? "item" : "items")
    let leftWords = left == 1 ? "; 1 was left out" : "; \(left) were left out"
    messages.note(left == 0 ? words : words + leftWords)
    return left == 0 ? .ok : .failure
  }
}
