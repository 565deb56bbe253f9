// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper cargo`: is a credential provider of cargo's, version 1 of its protocol: one
/// JSON object a line, a hello first, then an answer to each request. A registry's item is
/// `cargo/INDEX-URL`, the URL as ``NamePart`` writes it.
enum CargoCredential {
  /// Says what is said instead of an answer.
  private enum Refusal: String {
    case notFound = "not-found"
    case notSupported = "operation-not-supported"
    case otherURL = "url-not-supported"
  }

  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    try invocation.output.openObject()
    try invocation.output.key("v")
    try invocation.output.openArray()
    try invocation.output.element(1)
    try invocation.output.closeArray()
    try end(&invocation.output)
    var lines = try CredentialLines()
    while let line = try lines.next() { try answer(line, &invocation) }
    return .ok
  }

  /// Answers one request; what goes wrong is an answer, too.
  private static func answer(
    _ line: consuming SecretBuffer, _ invocation: inout Invocation
  ) throws(CommandError) {
    do throws(CommandError) {
      guard let refusal = try perform(try JSONDocument.request(line), &invocation) else { return }
      try refuse(refusal.rawValue, &invocation.output)
      try end(&invocation.output)
    } catch {
      if case .output = error { throw error }
      try fail(Diagnostic(error), &invocation.output)
    }
  }

  private static func perform(
    _ request: borrowing JSONDocument, _ invocation: inout Invocation
  ) throws(CommandError) -> Refusal? {
    guard try request.number("v") == 1 else { throw .requestLacks("version 1") }
    guard let kind = try request.bytes("kind") else { throw .requestLacks("kind") }
    switch String(decoding: kind, as: UTF8.self) {
    case "get": return try get(request, &invocation)
    case "login": return try login(request, &invocation)
    case "logout": return try logout(request, &invocation)
    default: return .notSupported
    }
  }
}

// MARK: - Operations

extension CargoCredential {
  private static func get(
    _ request: borrowing JSONDocument, _ invocation: inout Invocation
  ) throws(CommandError) -> Refusal? {
    guard let name = try name(request) else { return .otherURL }
    var token = try CredentialValue()
    let isThere = try invocation.access().reading(.refused).unlocked(authorizing: true) {
      connection throws(ClientError) in
      try connection.read(name, into: &token)
    }
    guard isThere else { return .notFound }
    try token.checkLine(name)
    try token.checkText(name)
    try begin("get", &invocation.output)
    try invocation.output.member("token", bytes: token.bytes)
    try invocation.output.member("cache", "session")
    try invocation.output.member("operation_independent", true)
    try invocation.output.closeObject()
    try end(&invocation.output)
    return nil
  }

  private static func login(
    _ request: borrowing JSONDocument, _ invocation: inout Invocation
  ) throws(CommandError) -> Refusal? {
    guard let name = try name(request) else { return .otherURL }
    let registry = try request.bytes("registry", "name")
    var token = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    if try !request.read(["token"], into: &token) { try ask(request, invocation, into: &token) }
    let attributes = registry.map { [Attribute(key: "registry", value: $0)] } ?? []
    try invocation.access().unlocked { connection throws(ClientError) in
      try connection.keep(token.bytes, as: name, attributes)
    }
    return try done("login", &invocation.output)
  }

  /// Lets a person type the token.
  private static func ask(
    _ request: borrowing JSONDocument, _ invocation: borrowing Invocation,
    into token: inout SecretBuffer
  ) throws(CommandError) {
    let registry = try request.bytes("registry", "name") ?? Array("the registry".utf8)
    var lines = ["token for " + Diagnostic.shown(registry) + ": "]
    if let place = try request.bytes("login-url") {
      lines.insert("A token is made at " + Diagnostic.shown(place), at: 0)
    }
    let asking = Asking(invocation.arguments, invocation.variables)
    try keep(try asking.typed(lines, isHidden: true), in: &token)
  }

  private static func keep(
    _ typed: borrowing SecretBytes, in token: inout SecretBuffer
  ) throws(CommandError) {
    do throws(SecureMemoryError) { try token.append(typed.bytes) } catch { throw .outOfMemory }
  }

  private static func logout(
    _ request: borrowing JSONDocument, _ invocation: inout Invocation
  ) throws(CommandError) -> Refusal? {
    guard let name = try name(request) else { return .otherURL }
    let wasThere = try invocation.access().unlocked { connection throws(ClientError) in
      guard try connection.found(name) != nil else { return false }
      try connection.drop(name)
      return true
    }
    return wasThere ? try done("logout", &invocation.output) : .notFound
  }

  /// The registry's item; nil where the request names none.
  private static func name(_ request: borrowing JSONDocument) throws(CommandError) -> String? {
    guard let url = try request.bytes("registry", "index-url"), !url.isEmpty else { return nil }
    return "cargo/" + NamePart.encode(url)
  }
}

// MARK: - Answers

extension CargoCredential {
  private static func begin(_ kind: String, _ output: inout Output) throws(CommandError) {
    try output.openObject()
    try output.key("Ok")
    try output.openObject()
    try output.member("kind", kind)
  }

  private static func done(
    _ kind: String, _ output: inout Output
  ) throws(CommandError) -> Refusal? {
    try begin(kind, &output)
    try output.closeObject()
    try end(&output)
    return nil
  }

  private static func refuse(_ kind: String, _ output: inout Output) throws(CommandError) {
    try output.openObject()
    try output.key("Err")
    try output.openObject()
    try output.member("kind", kind)
    if kind != "other" { try output.closeObject() }
  }

  private static func fail(
    _ diagnostic: Diagnostic, _ output: inout Output
  ) throws(CommandError) {
    try refuse("other", &output)
    let words = diagnostic.message.isEmpty ? "interrupted" : diagnostic.message
    try output.member("message", "kura: " + words)
    try output.key("caused-by")
    try output.openArray()
    if let hint = diagnostic.hint { try output.element(hint) }
    try output.closeArray()
    try output.closeObject()
    try end(&output)
  }

  /// Ends an object and the line; cargo waits for it.
  private static func end(_ output: inout Output) throws(CommandError) {
    try output.closeObject()
    try output.write("\n")
    output.needsComma = false
    try output.flush()
  }
}
