// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes entries as a document of the FIDO Alliance's Credential Exchange Format, version 1.0.
struct ExchangeFormat: ~Copyable {
  /// Tells this export's ids from those of all others.
  private let random: [UInt8]
  /// The names of the entries that were written, by their numbers.
  private var written: [(name: String, number: Int)] = []

  private init(_ random: [UInt8]) { self.random = random }

  /// Begins the document.
  static func begin(_ output: inout Output) throws(CommandError) -> ExchangeFormat {
    var source = try RandomSource()
    var random: [UInt8] = []
    for _ in 0..<12 { random.append(UInt8(try source.number(below: 256))) }
    let document = ExchangeFormat(random)
    try output.openObject()
    try output.key("version")
    try output.openObject()
    try output.member("major", 1)
    try output.member("minor", 0)
    try output.closeObject()
    try output.member("exporterRpId", "kura.invalid")
    try output.member("exporterDisplayName", "Kura")
    try output.member("timestamp", Clock.unix() / 1_000)
    try output.key("accounts")
    try output.openArray()
    try output.openObject()
    try output.member("id", document.id(.account, 0))
    try output.member("username", "")
    try output.member("email", "")
    try output.key("items")
    try output.openArray()
    return document
  }

  /// Writes an entry.
  ///
  /// - Parameters:
  ///   - number: Its place among all.
  ///   - flaw: Is told of what the document has no place for.
  mutating func write(
    _ entry: borrowing ExportedEntry, number: Int, _ output: inout Output,
    flaw: (String, String) -> Void
  ) throws(CommandError) {
    let item = entry.item
    try output.openObject()
    try output.member("id", id(.item, number))
    try output.member("creationAt", item.facts.created / 1_000)
    try output.member("modifiedAt", item.facts.modified / 1_000)
    try output.member("title", entry.title)
    try output.scope(item)
    try output.key("credentials")
    try output.openArray()
    try output.login(entry)
    if let code = entry.first(.code) { try output.code(entry.bytes(code), flaw) }
    if let notes = entry.first(.notes) {
      try output.openCredential("note")
      try output.field("content", entry.bytes(notes))
      try output.closeObject()
    }
    try output.otherFields(entry, flaw)
    try output.closeArray()
    try output.tags(entry)
    try output.closeObject()
    for part in entry.parts where part.role == .attachment {
      flaw(part.label, "a document of this format has no files in it")
    }
    written.append((item.name, number))
  }

  /// Writes the folders, and ends the document.
  func close(_ output: inout Output) throws(CommandError) {
    try output.closeArray()
    try output.key("collections")
    var count = 0
    try writeFolders(written[...], depth: 0, &count, &output)
    try output.closeObject()
    try output.closeArray()
    try output.closeObject()
    try output.write("\n")
    output.needsComma = false
  }
}

// MARK: - Folders and ids

extension ExchangeFormat {
  private enum Kind: UInt8 {
    case account = 1
    case item = 2
    case folder = 3
  }

  /// 16 bytes in base64url.
  private func id(_ kind: Kind, _ number: Int) -> String {
    var bytes = random
    bytes.append(kind.rawValue)
    for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    var base64 = Base64()
    var text: [UInt8] = []
    for byte in bytes {
      if let group = base64.take(byte) { for index in 0..<4 { text.append(group[index]) } }
    }
    if let group = base64.finish() { for index in 0..<4 { text.append(group[index]) } }
    var id: [UInt8] = []
    for digit in text where digit != UInt8(ascii: "=") {
      switch digit {
      case UInt8(ascii: "+"): id.append(UInt8(ascii: "-"))
      case UInt8(ascii: "/"): id.append(UInt8(ascii: "_"))
      default: id.append(digit)
      }
    }
    return String(decoding: id, as: UTF8.self)
  }

  /// Writes the folders of entries that stand in one folder of that depth, whose names are sorted.
  private func writeFolders(
    _ entries: ArraySlice<(name: String, number: Int)>, depth: Int, _ count: inout Int,
    _ output: inout Output
  ) throws(CommandError) {
    try output.openArray()
    var start = entries.startIndex
    while start < entries.endIndex {
      guard let folder = Self.folder(of: entries[start].name, depth) else {
        start += 1
        continue
      }
      var end = start
      while end < entries.endIndex, Self.folder(of: entries[end].name, depth) == folder {
        end += 1
      }
      try writeFolder(folder, entries[start..<end], depth: depth + 1, &count, &output)
      start = end
    }
    try output.closeArray()
  }

  private func writeFolder(
    _ title: [UInt8], _ entries: ArraySlice<(name: String, number: Int)>, depth: Int,
    _ count: inout Int, _ output: inout Output
  ) throws(CommandError) {
    try output.openObject()
    try output.member("id", id(.folder, count))
    count += 1
    try output.member("title", bytes: title.span)
    try output.key("items")
    try output.openArray()
    for entry in entries where Self.folder(of: entry.name, depth) == nil {
      try output.openObject()
      try output.member("item", id(.item, entry.number))
      try output.closeObject()
    }
    try output.closeArray()
    try output.key("subCollections")
    try writeFolders(entries, depth: depth, &count, &output)
    try output.closeObject()
  }

  /// The part of a name at a depth; nil where that is the entry's own.
  private static func folder(of name: String, _ depth: Int) -> [UInt8]? {
    var rest = Array(name.utf8)[...]
    for _ in 0..<depth {
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
      rest = rest[(slash + 1)...]
    }
    return rest.firstIndex(of: UInt8(ascii: "/")).map { Array(rest[..<$0]) }
  }
}

// MARK: - Credentials

extension Output {
  fileprivate mutating func openCredential(_ type: String) throws(CommandError) {
    try openObject()
    try member("type", type)
  }

  /// Writes a field, which says of itself what it is.
  fileprivate mutating func field(
    _ key: String?, _ value: Span<UInt8>, isSecret: Bool = false, label: String? = nil
  ) throws(CommandError) {
    if let key { try self.key(key) }
    try openObject()
    try member("fieldType", isSecret ? "concealed-string" : "string")
    try member("value", bytes: value)
    if let label { try member("label", label) }
    try closeObject()
  }

  /// Writes where the entry is for.
  fileprivate mutating func scope(_ item: Item) throws(CommandError) {
    try key("scope")
    try openObject()
    try key("urls")
    try openArray()
    for attribute in item.attributes where attribute.isURL {
      try element(bytes: attribute.value.span)
    }
    try closeArray()
    try key("androidApps")
    try openArray()
    try closeArray()
    try closeObject()
  }

  fileprivate mutating func login(_ entry: borrowing ExportedEntry) throws(CommandError) {
    let user = entry.attribute("user")
    let hasUser = !user.isEmpty && !UTF8Scanner.isText(user.span) ? false : !user.isEmpty
    let password = entry.first(.password)
    guard hasUser || password != nil else { return }
    try openCredential("basic-auth")
    if hasUser { try field("username", user.span) }
    if let password { try field("password", entry.bytes(password), isSecret: true) }
    try closeObject()
  }

  fileprivate mutating func tags(_ entry: borrowing ExportedEntry) throws(CommandError) {
    let tags = entry.attribute("tags")
    guard !tags.isEmpty, UTF8Scanner.isText(tags.span) else { return }
    try key("tags")
    try openArray()
    for tag in tags.split(separator: UInt8(ascii: ",")) {
      let text = Array(tag.drop { $0 == UInt8(ascii: " ") })
      if !text.isEmpty { try element(bytes: text.span) }
    }
    try closeArray()
  }

  /// Writes the fields that have no place of their own.
  fileprivate mutating func otherFields(
    _ entry: borrowing ExportedEntry, _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    var attributes: [Attribute] = []
    for attribute in entry.otherAttributes(than: ["user", "tags"]) where !attribute.isURL {
      if UTF8Scanner.isText(attribute.value.span) {
        attributes.append(attribute)
      } else {
        flaw(attribute.key, "its value is no UTF-8 text")
      }
    }
    let hasSecrets = entry.parts.contains { $0.role == .field }
    guard hasSecrets || !attributes.isEmpty else { return }
    try openCredential("custom-fields")
    try key("fields")
    try openArray()
    for part in entry.parts where part.role == .field {
      try field(nil, entry.bytes(part), isSecret: true, label: part.label)
    }
    for attribute in attributes {
      try field(nil, attribute.value.span, label: attribute.key)
    }
    try closeArray()
    try closeObject()
  }

  /// Writes what makes one-time codes, taken apart.
  fileprivate mutating func code(
    _ uri: Span<UInt8>, _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    var secret = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 64) }
    guard let code = try TimeCode(uri, &secret) else {
      return flaw("otp", "only codes by time, of a base32 secret and 255 s at most, have a place")
    }
    try openCredential("totp")
    try member("secret", bytes: secret.bytes)
    try member("period", code.period)
    try member("digits", code.digits)
    try member("algorithm", code.algorithm)
    if !code.account.isEmpty { try member("username", bytes: code.account.span) }
    if !code.issuer.isEmpty { try member("issuer", bytes: code.issuer.span) }
    try closeObject()
  }
}
