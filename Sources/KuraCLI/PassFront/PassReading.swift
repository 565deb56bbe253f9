// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what pass does to print values and names.
enum PassReading {
  private static let options = [
    PassWords.Option("c", "clip", .optional), PassWords.Option("q", "qrcode", .optional),
  ]

  static func show(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let usage = "show [--clip[=LINE],-c[LINE]] [NAME]"
    let given = try PassWords(words, options, usage: usage, invocation)
    guard given.operands.count <= 1 else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    if given.has("q") { throw noPictures(invocation) }
    let name = try PassStore.path(given.operands.first ?? "", invocation)
    let isFolder = given.operands.first?.utf8.last == UInt8(ascii: "/")
    var value: SecretBuffer?
    if !name.utf8.isEmpty, !isFolder { value = try fetch(store.prefix + name, store) }
    guard let value else {
      guard !given.has("c"), try list(name, store, &invocation) else {
        throw store.missing(name, invocation)
      }
      return .ok
    }
    guard given.has("c") else {
      try write(value, &invocation)
      return .ok
    }
    try copy(value, line: given.value("c"), of: name, store, invocation)
    return .ok
  }

  static func noPictures(_ invocation: borrowing Invocation) -> CommandError {
    PassFront.refusal(
      "kura draws no QR codes: give the value to qrencode, which does.", invocation)
  }

  /// The value of an item; nil where there is none.
  static func fetch(_ item: String, _ store: PassStore) throws(CommandError) -> SecretBuffer? {
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
    do throws(CommandError) {
      try store.access.reading(item).unlocked(authorizing: true) { connection throws(ClientError) in
        value.removeAll()
        _ = try connection.get(item, for: .helper) { part throws(ClientError) in
          do throws(SecureMemoryError) { try value.append(part) } catch { throw .outOfMemory }
        }
      }
    } catch {
      guard error.isMissingItem else { throw error }
      return nil
    }
    return value
  }

  /// Writes a value, with a newline at its end: pass stores one behind what is typed.
  private static func write(
    _ value: borrowing SecretBuffer, _ invocation: inout Invocation
  ) throws(CommandError) {
    let isEnded = value.count > 0 && value.bytes[value.count - 1] == UInt8(ascii: "\n")
    if invocation.output.isTerminal {
      var escaping = Escaping(.text)
      try invocation.output.write(value.bytes, &escaping)
      try invocation.output.finish(&escaping)
    } else {
      try invocation.output.send(value.bytes)
    }
    if !isEnded { try invocation.output.write("\n") }
  }

  /// Copies a line of a value.
  private static func copy(
    _ value: borrowing SecretBuffer, line text: String?, of name: String, _ store: PassStore,
    _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let number = text.map { Decimal.parse(Array($0.utf8)[...]).flatMap { Int(exactly: $0) } } ?? 1
    guard let number, number > 0 else {
      throw PassFront.refusal("clip location '" + (text ?? "") + "' is not a number.", invocation)
    }
    guard let range = SecretLines.range(of: number, in: value.bytes), !range.isEmpty else {
      throw PassFront.refusal(
        "line \(number) of " + Diagnostic.shown(name) + " is empty.", invocation)
    }
    try PassClipboard.copy(value.bytes.extracting(range), of: name, store, invocation)
  }
}

// MARK: - Names

extension PassReading {
  /// Prints the tree of a folder.
  ///
  /// - Returns: Whether there is anything in it.
  private static func list(
    _ folder: String, _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> Bool {
    let tree = PassTree(isUTF8: invocation.variables.isUTF8)
    for name in try store.names(below: folder) { tree.add(name) }
    guard !tree.isEmpty || folder.utf8.isEmpty else { return false }
    try invocation.output.write(ended: folder.utf8.isEmpty ? "Password Store" : folder)
    try tree.write(to: &invocation.output)
    return true
  }

  static func find(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let given = try PassWords(words, [], usage: "find TEXT...", invocation)
    guard !given.operands.isEmpty else {
      throw PassFront.refusal("usage: pass find TEXT...", invocation)
    }
    let terms = given.operands.map { lowered(Array($0.utf8)) }
    let tree = PassTree(isUTF8: invocation.variables.isUTF8)
    for name in try store.names(below: "") {
      // A folder that matches is shown with all that is in it.
      let parts = lowered(Array(name.utf8)).split(separator: UInt8(ascii: "/"))
      if parts.contains(where: { part in terms.contains { contains(part, $0) } }) { tree.add(name) }
    }
    try invocation.output.write(ended: "Search Terms: " + given.operands.joined(separator: ","))
    try tree.write(to: &invocation.output)
    return .ok
  }

  private static func lowered(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  private static func contains(_ text: ArraySlice<UInt8>, _ part: [UInt8]) -> Bool {
    text.indices.contains { text[$0...].starts(with: part) } || part.isEmpty
  }
}
