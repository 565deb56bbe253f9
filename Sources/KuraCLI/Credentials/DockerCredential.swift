// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper docker`: is a credential helper of docker's (docker-credential-helpers). A
/// registry's item is `docker/URL`, the URL as ``NamePart`` writes it; the attribute `username` is
/// its user.
///
/// Docker shows people what is on stdout, so errors go there, too, and the status is 1; two of the
/// texts it takes to pieces itself.
enum DockerCredential {
  private static let notFound = "credentials not found in native keychain"
  private static let noServer = "no credentials server URL"
  private static let noUser = "no credentials username"
  private static let userKey = "username"

  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    do throws(CommandError) {
      guard let refusal = try answer(&invocation) else { return .ok }
      try invocation.output.write(refusal + "\n")
    } catch {
      if case .output = error { throw error }
      let diagnostic = Diagnostic(error)
      let hint = diagnostic.hint.map { " (" + $0 + ")" } ?? ""
      try invocation.output.write(diagnostic.message + hint + "\n")
    }
    return .failure
  }

  /// Does one operation; the text of a refusal where there is one.
  private static func answer(_ invocation: inout Invocation) throws(CommandError) -> String? {
    let operands = invocation.arguments.operands
    guard operands.count > 1 else { return "usage: docker-credential-kura " + operations }
    let known = String(decoding: operands[1], as: UTF8.self)
    switch known {
    case "get": return try get(&invocation)
    case "store": return try store(invocation)
    case "erase": return try erase(invocation)
    case "list": return try list(&invocation)
    case "version":
      try invocation.output.write("docker-credential-kura (kura) " + Release.version + "\n")
      return nil
    default:
      return "docker-credential-kura: unknown action: " + Diagnostic.shown(operands[1])
    }
  }

  private static let operations = "<store|get|erase|list|version>"
}

// MARK: - Operations

extension DockerCredential {
  private static func get(_ invocation: inout Invocation) throws(CommandError) -> String? {
    let server = try server(in: try CredentialInput.all())
    guard !server.isEmpty else { return noServer }
    let name = name(of: server)
    var secret = try CredentialValue()
    let item = try invocation.access().reading(.refused).unlocked(authorizing: true) {
      connection throws(ClientError) -> Item? in
      guard let item = try connection.found(name), try connection.read(name, into: &secret) else {
        return nil
      }
      return item
    }
    guard let item else { return notFound }
    try secret.checkText(name)
    guard let user = item.user, UTF8Scanner.isText(user.span) else {
      throw .attributeMissing(name, key: userKey)
    }
    try invocation.output.openObject()
    try invocation.output.member("ServerURL", bytes: server.span)
    try invocation.output.member("Username", bytes: user.span)
    try invocation.output.member("Secret", bytes: secret.bytes)
    try invocation.output.closeObject()
    try invocation.output.write("\n")
    return nil
  }

  private static func store(_ invocation: borrowing Invocation) throws(CommandError) -> String? {
    let request = try JSONDocument.request(try CredentialInput.all())
    var secret = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    let hasSecret = try request.read(["Secret"], into: &secret)
    guard let server = try request.bytes("ServerURL"), !server.isEmpty else { return noServer }
    guard let user = try request.bytes("Username"), !user.isEmpty else { return noUser }
    guard hasSecret else { throw .requestLacks("Secret") }
    try invocation.access().unlocked { connection throws(ClientError) in
      try connection.keep(
        secret.bytes, as: name(of: server), [Attribute(key: userKey, value: user)])
    }
    return nil
  }

  private static func erase(_ invocation: borrowing Invocation) throws(CommandError) -> String? {
    let server = try server(in: try CredentialInput.all())
    guard !server.isEmpty else { return noServer }
    try invocation.access().unlocked { connection throws(ClientError) in
      try connection.drop(name(of: server))
    }
    return nil
  }

  private static func list(_ invocation: inout Invocation) throws(CommandError) -> String? {
    var found: [Item] = []
    try invocation.access().unlocked { connection throws(ClientError) in
      found = []
      try connection.list(ListOrder(flags: .attributes, prefix: stem)) { item throws(ClientError) in
        found.append(item)
      }
    }
    try invocation.output.openObject()
    for item in found.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      guard let server = NamePart.decode(item.name.utf8.dropFirst(stem.utf8.count)),
        let text = String(validating: server, as: UTF8.self),
        let user = item.user, UTF8Scanner.isText(user.span)
      else { continue }
      try invocation.output.member(text, bytes: user.span)
    }
    try invocation.output.closeObject()
    try invocation.output.write("\n")
    return nil
  }
}

// MARK: - Names

extension DockerCredential {
  private static let stem = "docker/"

  private static func name(of server: [UInt8]) -> String { stem + NamePart.encode(server) }

  /// The registry that stdin names: one line, without the space around it.
  private static func server(in text: borrowing SecretBuffer) throws(CommandError) -> [UInt8] {
    var server: [UInt8] = []
    for index in text.bytes.indices { server.append(text.bytes[index]) }
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte >= 0x09 && byte <= 0x0D }
    let head = server.prefix(while: isSpace).count
    let tail = server.reversed().prefix(while: isSpace).count
    let bare = Array(server[head..<max(head, server.count - tail)])
    if bare.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw .controlByte(line: 1)
    }
    return bare
  }
}

extension Item {
  fileprivate var user: [UInt8]? { attributes.first { $0.key == "username" }?.value }
}
