// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what pass-otp does: an item's codes come from the item itself, or from `NAME/otp` beside it.
enum PassCodes {
  private static let options = [
    PassWords.Option("c", "clip"), PassWords.Option("q", "qrcode"), PassWords.Option("q", "quiet"),
    PassWords.Option("f", "force"),
    PassWords.Option("e", "echo"), PassWords.Option("s", "secret"),
    PassWords.Option("i", "issuer", .required), PassWords.Option("a", "account", .required),
  ]

  private static let usage =
    "otp [code [-c] | insert [-f] [-s] | append [-f] [-s] | uri [-c] | validate] NAME"

  static func run(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let verbs = ["code", "show", "insert", "add", "append", "uri", "url", "validate"]
    let verb = words.first.flatMap { first in verbs.first { first.elementsEqual($0.utf8) } }
    let given = try PassWords(
      verb == nil ? words : Array(words.dropFirst()), options, usage: usage, invocation)
    guard given.operands.count == 1 else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    let operand = given.operands[0]
    guard let verb, !["code", "show"].contains(where: { $0.utf8.elementsEqual(verb.utf8) }) else {
      return try code(operand, given, store, &invocation)
    }
    if verb.utf8.elementsEqual("validate".utf8) { return try validate(operand, invocation) }
    // Of a code it means that there is little to say, and there is.
    if given.has("q") { throw PassReading.noPictures(invocation) }
    if verb.utf8.starts(with: "ur".utf8) { return try uri(operand, given, store, &invocation) }
    return try insert(
      operand, appends: verb.utf8.elementsEqual("append".utf8), given, store, invocation)
  }

  /// Tries the item itself, then the one beside it.
  private static func seed(_ name: String, _ store: PassStore) throws(CommandError) -> String? {
    for item in [store.prefix + name, store.prefix + name + "/otp"] {
      let isSeed = try store.access.unlocked { connection throws(ClientError) -> Bool in
        do throws(ClientError) { return try connection.show(item).item.facts.kind == .otp } catch {
          guard case .refused(.notFound) = error else { throw error }
          return false
        }
      }
      if isSeed { return item }
    }
    return nil
  }

  private static func known(
    _ operand: String, _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) -> (name: String, item: String) {
    let name = try PassStore.path(operand, invocation)
    if let item = try seed(name, store) { return (name, item) }
    guard try store.has(store.prefix + name) else { throw store.missing(name, invocation) }
    throw PassFront.refusal(
      Diagnostic.shown(name) + " gives no one-time codes: 'pass otp append' adds what makes them.",
      invocation)
  }

  private static func code(
    _ operand: String, _ given: PassWords, _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let (name, item) = try known(operand, store, invocation)
    var text = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 16) }
    try store.access.unlocked(authorizing: true) { connection throws(ClientError) in
      text.removeAll()
      try connection.appendOneTimeCode(of: item, to: &text)
    }
    return try give(text, of: name, given, store, &invocation)
  }

  private static func uri(
    _ operand: String, _ given: PassWords, _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let (name, item) = try known(operand, store, invocation)
    guard let text = try PassReading.fetch(item, store) else {
      throw store.missing(name, invocation)
    }
    return try give(text, of: name, given, store, &invocation)
  }

  private static func give(
    _ text: borrowing SecretBuffer, of name: String, _ given: PassWords, _ store: PassStore,
    _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    if given.has("c") {
      try PassClipboard.copy(text.bytes, of: name, store, invocation)
    } else {
      try invocation.output.write(wholeLine: text.bytes)
    }
    return .ok
  }

  private static func insert(
    _ operand: String, appends: Bool, _ given: PassWords, _ store: PassStore,
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let name = try PassStore.path(operand, invocation)
    let item = store.prefix + name + (appends ? "/otp" : "")
    if appends, try !store.has(store.prefix + name) { throw store.missing(name, invocation) }
    if !given.has("f") { try PassWriting.confirm(item, store, invocation) }
    let text = try PassWriting.seed(of: item, isEchoed: given.has("e"), invocation)
    let order = PutOrder(name: item, flags: [.replace, .otp])
    let label = [given.value("i"), given.value("a")].compactMap { $0 }.joined(separator: ":")
    try put(text, order, named: label.utf8.isEmpty ? name : label, store)
    return .ok
  }

  /// Stores a URI, or that which is made of a bare secret.
  private static func put(
    _ text: borrowing SecretBuffer, _ order: PutOrder, named name: String, _ store: PassStore
  ) throws(CommandError) {
    let uri: SecretBytes?
    do throws(SecureMemoryError) { uri = try BareSeed.uri(text.bytes, named: name) } catch {
      throw .outOfMemory
    }
    if let uri { return try put(uri.bytes, order, store) }
    try put(text.bytes, order, store)
  }

  private static func put(
    _ value: Span<UInt8>, _ order: PutOrder, _ store: PassStore
  ) throws(CommandError) {
    _ = try store.access.unlocked { connection throws(ClientError) in
      try connection.put(order, value: value)
    }
  }

  /// Whether a text is an otpauth URI, as far as that can be told before it is stored.
  private static func validate(
    _ text: String, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let bytes = Array(text.utf8)
    let isKind = ["otpauth://totp/", "otpauth://hotp/"].contains { bytes.starts(with: $0.utf8) }
    let secret = Array("secret=".utf8)
    let hasSecret = bytes.indices.contains { bytes[$0...].starts(with: secret) }
    guard isKind, hasSecret else {
      throw PassFront.refusal("this is no otpauth URI with a secret.", invocation)
    }
    return .ok
  }
}
