// SPDX-License-Identifier: MIT

internal import CKuraSystem
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
      Option(
        .recipient, letter: "r", .required("KEY"),
        help: "for pass: encrypt to KEY of gpg; may be repeated"),
      Option(.force, help: "write to a terminal, too"),
    ] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let format = try format(try invocation.operand(0))
    let path = try invocation.text(.output)
    if format == .pass { return try writeStore(path, invocation) }
    guard !invocation.arguments.has(.recipient) else {
      throw .usage("--recipient goes with the format pass", hint: "no other is encrypted")
    }
    if path == nil, invocation.output.isTerminal, !invocation.arguments.has(.force) {
      throw .usage(
        "all values would stand on the terminal",
        hint: "-o FILE writes them to a file, and --force shows them all the same")
    }
    var writer = try writer(format, invocation)
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

  private static func writer(
    _ format: ExportFormat, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExportWriter {
    let prefix = invocation.arguments.operands.count > 1 ? try invocation.operand(1) : ""
    let items = try ExportedItems.find(prefix, format, try invocation.access())
    return ExportWriter(items, invocation.messages)
  }

  /// Writes a folder, whole or not at all.
  private static func writeStore(
    _ path: String?, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    guard var path else {
      throw .usage("a store of pass's is a folder", hint: "-o DIR names the one to be made")
    }
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") {
      path = String(decoding: path.utf8.dropLast(), as: UTF8.self)
    }
    guard System.fileKind(path) == KURA_ABSENT else {
      throw .file(.write, path: path, errno: FileError.exists)
    }
    var keys: [String] = []
    for key in invocation.arguments.values(.recipient) { keys.append(try Invocation.text(key)) }
    let encryption = try Encryption.find(keys, invocation.variables)
    var writer = try writer(.pass, invocation)
    kura_interrupt_is_noted()
    defer { kura_interrupt_ends() }
    var store = try StoreFolder.begin(at: path, encryption)
    try writer.write(&store)
    try store.commit(path)
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
    if let losses = writer.losses { messages.note(losses) }
    return left == 0 ? .ok : .failure
  }
}
