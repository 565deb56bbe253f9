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
    let name = try PassStore.path(given.operands[0], invocation)
    let length = try length(given.operands, invocation)
    let made = try password(length, hasSymbols: !given.has("n"), invocation)
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

  /// The length that is said, or the one of a variable.
  private static func length(
    _ operands: [String], _ invocation: borrowing Invocation
  ) throws(CommandError) -> Int {
    let variable = "PASSWORD_STORE_GENERATED_LENGTH"
    let isSaid = operands.count > 1
    let text = isSaid ? operands[1] : invocation.variables[variable] ?? "25"
    guard let wide = Decimal.parse(Array(text.utf8)[...]), (1...65_536).contains(wide) else {
      throw PassFront.refusal(
        (isSaid ? "the password length" : variable) + " '" + Diagnostic.shown(text)
          + "' is not a number from 1 to 65536.", invocation)
    }
    return Int(wide)
  }

  /// So many characters, of those that a variable allows, else of kura's own choice.
  private static func password(
    _ length: Int, hasSymbols: Bool, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    var value = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: length)
    }
    let variable = "PASSWORD_STORE_CHARACTER_SET" + (hasSymbols ? "" : "_NO_SYMBOLS")
    if let text = invocation.variables[variable] {
      guard let alphabet = PassAlphabet(text) else {
        throw PassFront.refusal(
          variable + " '" + Diagnostic.shown(text)
            + "' is not understood: it has classes as [:alnum:], ranges as a-z and visible ASCII characters.",
          invocation)
      }
      var source = try RandomSource()
      for _ in 0..<length {
        let byte = alphabet.characters[try source.number(below: alphabet.characters.count)]
        do throws(SecureMemoryError) { try value.append(byte) } catch { throw .outOfMemory }
      }
      return value
    }
    var classes = CharacterClass.allCases.filter { hasSymbols || $0 != .symbols }
    while value.count < length {
      let count = min(length - value.count, Recipe.lengths.upperBound)
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
