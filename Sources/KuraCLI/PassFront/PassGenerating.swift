// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `pass generate`.
enum PassGenerating {
  private static let options = [
    PassWords.Option("n", "no-symbols"), PassWords.Option("c", "clip"),
    PassWords.Option("q", "qrcode"), PassWords.Option("i", "in-place"),
    PassWords.Option("f", "force"),
  ]

  static func generate(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let usage =
      "generate [--no-symbols,-n] [--clip,-c] [--in-place,-i | --force,-f] NAME [LENGTH]"
    let given = try PassWords(words, options, usage: usage, invocation)
    guard (1...2).contains(given.operands.count), !(given.has("i") && given.has("f")) else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    if given.has("q") { throw PassReading.noPictures(invocation) }
    let text =
      given.operands.count > 1
      ? given.operands[1] : invocation.variables["PASSWORD_STORE_GENERATED_LENGTH"] ?? "25"
    let name = try PassStore.path(given.operands[0], invocation)
    let made = try password(text, hasSymbols: !given.has("n"), invocation)
    let item = store.prefix + name
    if given.has("i") {
      try replaceFirstLine(of: item, name, with: made, store, invocation)
    } else {
      if !given.has("f") { try PassWriting.confirm(item, store, invocation) }
      try PassWriting.put(made, item, store)
    }
    if given.has("c") {
      try PassClipboard.copy(made.bytes, of: name, store, invocation)
    } else {
      try invocation.output.write(ended: "The generated password for " + name + " is:")
      try invocation.output.write(made.bytes)
      try invocation.output.write("\n")
    }
    return .ok
  }

  /// So many characters; longer than a recipe makes them, of several.
  private static func password(
    _ text: String, hasSymbols: Bool, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    guard let wide = Decimal.parse(Array(text.utf8)[...]), (1...65_536).contains(wide) else {
      throw PassFront.refusal(
        "the password length '" + Diagnostic.shown(text) + "' is not a number from 1 to 65536.",
        invocation)
    }
    var classes = CharacterClass.allCases.filter { hasSymbols || $0 != .symbols }
    var value = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: Int(wide))
    }
    while value.count < Int(wide) {
      let count = min(Int(wide) - value.count, Recipe.lengths.upperBound)
      // A short one has no room for one of each.
      if count < classes.count { classes = [.lower] }
      let recipe = try parsing { () throws(UsageError) in
        try Recipe(length: count, classes, isUnambiguous: false)
      }
      let part = try recipe.make()
      do throws(SecureMemoryError) { try value.append(part.bytes) } catch { throw .outOfMemory }
    }
    return value
  }

  private static func replaceFirstLine(
    of item: String, _ name: String, with made: borrowing SecretBuffer, _ store: PassStore,
    _ invocation: borrowing Invocation
  ) throws(CommandError) {
    guard let old = try PassReading.fetch(item, store) else {
      throw store.missing(name, invocation)
    }
    let end = SecretLines.range(of: 1, in: old.bytes)?.upperBound ?? old.count
    var text = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: made.count + old.count)
    }
    do throws(SecureMemoryError) {
      try text.append(made.bytes)
      try text.append(old.bytes.extracting(end...))
    } catch { throw .outOfMemory }
    try PassWriting.put(text, item, store)
  }
}
