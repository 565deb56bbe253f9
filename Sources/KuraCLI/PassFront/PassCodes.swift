// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what pass-otp does: codes come of items of codes, and of texts with an otpauth URI as a line of theirs.
enum PassCodes {
  private static let options = [
    PassWords.Option("c", "clip"), PassWords.Option("q", "qrcode"), PassWords.Option("q", "quiet"),
    PassWords.Option("f", "force"), PassWords.Option("e", "echo"), PassWords.Option("s", "secret"),
    PassWords.Option("i", "issuer", .required), PassWords.Option("a", "account", .required),
    PassWords.Option("p", "path", .required),
  ]

  private static let usage =
    "otp [code [-c] | insert [-efs] [-i ISSUER] [-a ACCOUNT] | append [-efs] | uri [-c] | validate] NAME"

  private enum Verb { case code, insert, append, uri, validate }

  private static let verbs: [(String, Verb)] = [
    ("code", .code), ("show", .code), ("insert", .insert), ("add", .insert), ("append", .append),
    ("uri", .uri), ("url", .uri), ("validate", .validate),
  ]

  static func run(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let verb = words.first.flatMap { word in verbs.first { word.elementsEqual($0.0.utf8) }?.1 }
    let given = try PassWords(
      verb == nil ? words : Array(words.dropFirst()), options, usage: usage, invocation)
    let operand = given.operands.first
    guard given.operands.count <= 1, operand != nil || verb == .insert else {
      throw PassFront.refusal("usage: pass " + usage, invocation)
    }
    switch verb ?? .code {
    case .code: return try code(operand ?? "", given, store, &invocation)
    case .uri: return try uri(operand ?? "", given, store, &invocation)
    case .append: return try append(to: operand ?? "", given, store, invocation)
    case .insert: return try insert(operand, given, store, invocation)
    case .validate:
      guard PassSeed.isURI(Array((operand ?? "").utf8).span) else {
        throw PassSeed.refusal(invocation)
      }
      return .ok
    }
  }
}

// MARK: - Reading

extension PassCodes {
  private static func code(
    _ operand: String, _ given: PassWords, _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let name = try PassStore.path(operand, invocation)
    var text = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 16) }
    do throws(CommandError) {
      let item = store.prefix + name
      try store.access.reading(item).unlocked(authorizing: true) {
        connection throws(ClientError) in
        text.removeAll()
        try connection.appendOneTimeCode(of: item, to: &text)
      }
    } catch {
      if error.isMissingItem { throw store.missing(name, invocation) }
      guard case .client(.refused(.notOTP)) = error else { throw error }
      throw none(name, invocation)
    }
    return try give(text.bytes, of: name, given, store, &invocation)
  }

  private static func none(
    _ name: String, _ invocation: borrowing Invocation
  ) -> CommandError {
    PassFront.refusal(
      Diagnostic.shown(name) + " gives no one-time codes: 'pass otp append' adds what makes them.",
      invocation)
  }

  private static func uri(
    _ operand: String, _ given: PassWords, _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    if given.has("q") { throw PassReading.noPictures(invocation) }
    let name = try PassStore.path(operand, invocation)
    guard let text = try PassReading.fetch(store.prefix + name, store) else {
      throw store.missing(name, invocation)
    }
    guard let place = PassSeed.place(in: text.bytes) else { throw none(name, invocation) }
    return try give(text.bytes.extracting(place), of: name, given, store, &invocation)
  }

  private static func give(
    _ text: Span<UInt8>, of name: String, _ given: PassWords, _ store: PassStore,
    _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    if given.has("c") {
      try PassClipboard.copy(text, of: name, store, invocation)
    } else {
      try invocation.output.write(wholeLine: text)
    }
    return .ok
  }
}

// MARK: - Storing

extension PassCodes {
  private static func insert(
    _ operand: String?, _ given: PassWords, _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    var name = try PassStore.path(operand ?? "", invocation)
    let uri = try PassSeed.read(for: name, given, invocation)
    if operand == nil {
      guard let label = PassSeed.name(of: uri.bytes) else { throw PassSeed.refusal(invocation) }
      name = try PassStore.path((given.value("p") ?? "") + "/" + label, invocation)
      if kura_is_terminal(0) {
        try PassFront.ask("Insert into " + Diagnostic.shown(name) + "?", store, invocation)
      }
    }
    if !given.has("f") { try PassWriting.confirm(store.prefix + name, store, invocation) }
    try PassWriting.put(uri, store.prefix + name, store, flags: .otp)
    return .ok
  }

  /// Puts a URI into a text, at its end or in the place of the one that is there.
  private static func append(
    to operand: String, _ given: PassWords, _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let name = try PassStore.path(operand, invocation)
    let item = store.prefix + name
    guard try store.has(item) else { throw store.missing(name, invocation) }
    let facts = try store.access.unlocked { connection throws(ClientError) in
      try connection.show(item).item.facts
    }
    guard let text = try PassReading.fetch(item, store) else {
      throw store.missing(name, invocation)
    }
    let place = PassSeed.place(in: text.bytes)
    if place != nil, !given.has("f"), kura_is_terminal(0) {
      try PassFront.ask(
        "An OTP secret already exists for " + Diagnostic.shown(name) + ". Overwrite it?", store,
        invocation)
    }
    let uri = try PassSeed.read(for: name, given, invocation)
    // What another program has stored meanwhile is not written over.
    var order = PutOrder(name: item, flags: [.replace, .ifRevision])
    order.revision = facts.revision
    if facts.kind == .otp { order.flags.insert(.otp) }
    let changed = try joined(text.bytes, place, uri.bytes)
    _ = try store.access.unlocked { connection throws(ClientError) in
      try connection.put(order, value: changed.bytes)
    }
    return .ok
  }

  private static func joined(
    _ text: Span<UInt8>, _ place: Range<Int>?, _ uri: Span<UInt8>
  ) throws(CommandError) -> SecretBuffer {
    do throws(SecureMemoryError) {
      var joined = try SecretBuffer(capacity: text.count + uri.count + 2)
      let newline = UInt8(ascii: "\n")
      if let place {
        try joined.append(text.extracting(..<place.lowerBound))
        try joined.append(uri)
        try joined.append(text.extracting(place.upperBound...))
      } else {
        try joined.append(text)
        if text.count > 0, text[text.count - 1] != newline { try joined.append(newline) }
        try joined.append(uri)
        try joined.append(newline)
      }
      return joined
    } catch { throw .outOfMemory }
  }
}
