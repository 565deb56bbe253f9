// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what pass does to store values.
enum PassWriting {
  /// The most that is read of stdin.
  static let limit = 16 << 20

  private static let options = [
    PassWords.Option("m", "multiline"), PassWords.Option("e", "echo"),
    PassWords.Option("f", "force"),
  ]

  static func insert(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let usage = "insert [--echo,-e | --multiline,-m] [--force,-f] NAME"
    let given = try PassWords(words, options, usage: usage, invocation)
    guard given.operands.count == 1, !(given.has("m") && given.has("e")) else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    let item = try store.item(given.operands[0], invocation)
    if !given.has("f") { try confirm(item, store, invocation) }
    var value: SecretBuffer
    if given.has("m") {
      if kura_is_terminal(0) {
        invocation.messages.write(
          "Enter contents of " + Diagnostic.shown(item) + " and press Ctrl+D when finished:\n")
      }
      value = try everything()
    } else {
      let isEchoed = given.has("e")
      value = try line(of: item, isEchoed: isEchoed, isChecked: !isEchoed, invocation)
    }
    try put(value, item, store)
    return .ok
  }

  /// Asks before something is written over, where somebody sits there; pass does not ask others.
  static func confirm(
    _ item: String, _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    guard kura_is_terminal(0), try store.has(item) else { return }
    try PassFront.ask(
      "An entry already exists for " + Diagnostic.shown(item) + ". Overwrite it?", store, invocation
    )
  }

  /// All of stdin, as it is.
  private static func everything() throws(CommandError) -> SecretBuffer {
    do throws(FileError) { return try Descriptor.readAll(0, limit: limit) } catch {
      throw .client(.input(error.errno))
    }
  }

  /// One line, without its end: typed, or from stdin, where a second one, if it is checked, must be the same.
  private static func line(
    of item: String, isEchoed: Bool, isChecked: Bool, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    guard !kura_is_terminal(0) else {
      return try typed(of: item, isEchoed: isEchoed, invocation)
    }
    var text = try everything()
    // What was to write the value has failed.
    guard let first = SecretLines.range(of: 1, in: text.bytes) else {
      throw PassFront.refusal("nothing was given, and nothing is stored.", invocation)
    }
    if isChecked {
      let second = SecretLines.range(of: 2, in: text.bytes)
      guard second.map({ isSame(text.bytes, first, $0) }) ?? true else {
        throw PassFront.refusal("the entered passwords do not match.", invocation)
      }
    }
    text.removeLast(text.count - first.upperBound)
    return text
  }

  private static func isSame(_ text: Span<UInt8>, _ first: Range<Int>, _ second: Range<Int>) -> Bool
  {
    guard first.count == second.count else { return false }
    var difference: UInt8 = 0
    for offset in 0..<first.count {
      difference |= text[first.lowerBound + offset] ^ text[second.lowerBound + offset]
    }
    return difference == 0
  }

  private static func typed(
    of item: String, isEchoed: Bool, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    var questioner = try invocation.access().asking.questioner()
    let label = "Enter password for " + Diagnostic.shown(item) + ": "
    guard isEchoed else {
      let again = "Retype password for " + Diagnostic.shown(item) + ": "
      return try text(try questioner.twice(label, .value, again: again, remark: { _ in "" }))
    }
    let secret = try questioner.ask(label, isHidden: false)
    questioner.endLine()
    return try text(secret)
  }

  static func text(_ secret: borrowing SecretBytes) throws(CommandError) -> SecretBuffer {
    var text = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: secret.count)
    }
    do throws(SecureMemoryError) { try text.append(secret.bytes) } catch { throw .outOfMemory }
    return text
  }

  /// What makes one-time codes: a line, typed or from stdin.
  static func seed(
    of item: String, isEchoed: Bool, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    try line(of: item, isEchoed: isEchoed, isChecked: false, invocation)
  }

  /// Stores a value over what is there.
  static func put(
    _ value: borrowing SecretBuffer, _ item: String, _ store: PassStore,
    flags: PutRequest.Flags = []
  ) throws(CommandError) {
    let order = PutOrder(name: item, flags: flags.union([.replace, .allowEmpty]))
    _ = try store.access.unlocked { connection throws(ClientError) in
      try connection.put(order, value: value.bytes)
    }
  }

  static func edit(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let given = try PassWords(words, [], usage: "edit NAME", invocation)
    guard given.operands.count == 1 else {
      throw PassFront.refusal("usage: pass edit NAME", invocation)
    }
    let item = try store.item(given.operands[0], invocation)
    return try Edit.edit(item, store.access, allowsEmpty: false, invocation)
  }
}
