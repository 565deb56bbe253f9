// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura inject`: fills the values of its references into a text.
enum Inject {
  static let command = Command(
    "inject", abstract: "fill the values of references into a text",
    options: [
      Option(.input, letter: "i", .required("FILE"), help: "the text, in place of stdin"),
      Option(
        .output, letter: "o", .required("FILE"), help: "write it to FILE (0600), whole or not"),
      Option(.raw, help: "no escapes on a terminal"),
    ] + ReferenceDialect.options,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let path = try file(.output, invocation)
    let template = try template(invocation)
    let result = try fill(template, invocation)
    if let path {
      try write(result, toFile: path)
    } else {
      try write(result, &invocation)
    }
    return .ok
  }

  /// The file that an option names; nil for stdin or stdout, which `-` names, too.
  private static func file(
    _ option: OptionName, _ invocation: borrowing Invocation
  ) throws(CommandError) -> String? {
    let path = try invocation.text(option)
    return path == "-" ? nil : path
  }

  private static func template(
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> Template {
    let arguments = invocation.arguments
    let path = try file(.input, invocation)
    try parsing { () throws(UsageError) in
      try arguments.refuse(.output, with: .raw)
      if path == nil, try arguments.number(.passcodeFD, as: Int32.self) == 0 {
        throw UsageError(
          "the passcode and the template cannot both come from stdin",
          hint: "name the template with --input, or give the passcode with --passcode-file")
      }
    }
    let text: SecretBuffer
    do throws(FileError) {
      let descriptor = try path.map { path throws(FileError) in try Descriptor.open(path: path) }
      defer { if let descriptor { Descriptor.close(descriptor) } }
      text = try Descriptor.readAll(descriptor ?? 0, limit: Template.limit)
    } catch { throw .file(.read, path: path ?? "stdin", errno: error.errno) }
    return try Template(text, name: path, try ReferenceDialect(invocation))
  }
}

// MARK: - Values

extension Inject {
  /// Reads all values before anything is written.
  private static func fill(
    _ template: consuming Template, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    let placeholders = template.placeholders
    let reader = try ReferenceReader(placeholders, for: .inject, invocation)
    var values = try PlaceholderValues.make(count: placeholders.count)
    var isTooLong = false
    do throws(CommandError) {
      try reader.read(
        begin: { index throws(ClientError) in values.begin(index) },
        missing: { values.drop($0) },
        into: { index, part throws(ClientError) in
          isTooLong = values.count + part.count > Template.limit
          if isTooLong { throw .stopped }
          do throws(SecureMemoryError) { try values.append(part, to: index) } catch {
            throw .outOfMemory
          }
        })
    } catch { throw isTooLong ? Template.tooLong : error }
    return try template.filled(values)
  }

  private static func write(
    _ result: borrowing SecretBuffer, toFile path: String
  ) throws(CommandError) {
    var file = try writing(path) { () throws(FileError) in try OutputFile.begin(at: path) }
    do throws(FileError) {
      try file.write(result.bytes)
      try file.commit()
    } catch { throw .file(.write, path: path, errno: error.errno) }
  }

  private static func write(
    _ result: borrowing SecretBuffer, _ invocation: inout Invocation
  ) throws(CommandError) {
    guard invocation.output.isTerminal, !invocation.arguments.has(.raw) else {
      return try invocation.output.send(result.bytes)
    }
    var escaping = Escaping(.text)
    try invocation.output.write(result.bytes, &escaping)
    try invocation.output.finish(&escaping)
  }
}
