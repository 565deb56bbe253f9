// SPDX-License-Identifier: MIT

/// Turns a document of FIDO's Credential Exchange Format, version 1.0, into entries.
struct ExchangeSource {
  /// Folders by the ids of what stands in them.
  private var folders: [[UInt8]: [[[UInt8]]]] = [:]
  private var place: UInt64 = 0

  /// Reads all of it.
  static func read(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    let document = try JSONReader.read(bytes[...])
    guard document["version"]?["major"]?.whole == 1 else { throw ReadingFlaw(.member, "version") }
    guard let accounts = document["accounts"]?.elements else {
      throw ReadingFlaw(.member, "accounts")
    }
    var source = ExchangeSource()
    for account in accounts {
      let name = Self.text(account["username"]) ?? Self.text(account["email"]) ?? []
      try source.read(account, in: accounts.count > 1 ? [name] : [], &sink)
    }
  }

  private mutating func read(
    _ account: JSONValue, in folder: [[UInt8]], _ sink: inout EntrySink
  ) throws(ReadingFlaw) {
    guard let items = account["items"]?.elements else { throw ReadingFlaw(.member, "items") }
    folders = [:]
    place(account["collections"], in: folder)
    for item in items {
      place += 1
      try sink.take(try entry(item, in: folder))
    }
  }

  /// Notes what stands in collections; what is in more than one comes into the first.
  private mutating func place(_ collections: JSONValue?, in outer: [[UInt8]]) {
    for collection in collections?.elements ?? [] {
      let path = outer + [collection["title"]?.text ?? []]
      for linked in collection["items"]?.elements ?? [] {
        if let id = linked["item"]?.text { folders[id, default: []].append(path) }
      }
      place(collection["subCollections"], in: path)
    }
  }

  private func entry(_ item: JSONValue, in folder: [[UInt8]]) throws(ReadingFlaw) -> SourceEntry {
    guard let title = item["title"]?.text else { throw ReadingFlaw(.member, at: place, "title") }
    guard let credentials = item["credentials"]?.elements else {
      throw ReadingFlaw(.member, at: place, "credentials")
    }
    var entry = SourceEntry()
    (entry.place, entry.title) = (place, title)
    let places = item["id"]?.text.flatMap { folders[$0] } ?? [folder]
    entry.folders = places[0]
    for place in places.dropFirst() {
      let name = Array(place.joined(separator: [UInt8(ascii: "/")]))
      entry.left.append(Remark(reason: .unsupported, field: Array("collection ".utf8) + name))
    }
    entry.created = Self.time(item["creationAt"])
    entry.modified = Self.time(item["modifiedAt"])
    let scope = entry.object("scope", of: item)
    entry.urls = entry.texts("urls", of: scope)
    entry.tags = entry.texts("tags", of: item)
    if item["favorite"]?.isTrue == true { entry.tags.append(Array("favorite".utf8)) }
    for app in entry.elements("androidApps", of: scope) {
      entry.show("android-app", Self.text(app["bundleId"]))
    }
    entry.show("subtitle", Self.text(item["subtitle"]))
    for credential in credentials { Self.take(credential, &entry) }
    if let extensions = item["extensions"]?.elements, !extensions.isEmpty {
      entry.left.append(Remark(reason: .foreign, field: Array("extensions".utf8)))
    }
    entry.leave(
      membersOf: item,
      but: [
        "id", "creationAt", "modifiedAt", "title", "subtitle", "favorite", "scope", "credentials",
        "tags", "extensions",
      ])
    if let scope { entry.leave(membersOf: scope, but: ["urls", "androidApps"]) }
    return entry
  }

  private static func time(_ value: JSONValue?) -> UInt64 {
    guard let seconds = value?.whole, seconds < 1 << 40 else { return 0 }
    return seconds * 1_000
  }

  /// A text, plain or within a field; nil where it is none, or empty.
  fileprivate static func text(_ value: JSONValue?) -> [UInt8]? {
    guard let text = value?.text ?? value?["value"]?.text, !text.isEmpty else { return nil }
    return text
  }
}

// MARK: - Credentials

extension ExchangeSource {
  private static func take(_ credential: JSONValue, _ entry: inout SourceEntry) {
    let type = credential["type"]?.text ?? []
    switch String(decoding: type, as: UTF8.self) {
    case "basic-auth":
      entry.name(entry.field("username", of: credential))
      entry.value("password", entry.field("password", of: credential))
    case "generated-password": entry.value("password", entry.field("password", of: credential))
    case "totp": takeSeed(credential, &entry)
    case "note": takeNote(entry.field("content", of: credential), &entry)
    case "custom-fields":
      entry.leave(sectionTitle: credential["label"])
      for field in entry.elements("fields", of: credential) {
        take(field, as: entry.text("label", of: field), &entry)
      }
    case "credit-card": takeMembers(of: credential, value: "number", &entry)
    case "api-key": takeMembers(of: credential, value: "key", &entry)
    case "wifi": takeMembers(of: credential, value: "passphrase", &entry)
    case "ssh-key":
      entry.value("privateKey", entry.field("privateKey", of: credential).map(pem))
      takeMembers(of: credential, value: "privateKey", &entry)
    case "address", "person-name", "passport", "drivers-license", "identity-document":
      takeMembers(of: credential, value: "", &entry)
    case "file":
      entry.left.append(
        Remark(reason: .unsupported, field: text(credential["name"]) ?? Array("file".utf8)))
    case "item-reference": entry.left.append(Remark(reason: .foreign, field: type))
    default: entry.left.append(Remark(reason: .unsupported, field: type))
    }
  }

  /// Takes the members of a credential as fields of their names.
  ///
  /// - Parameter value: The one that is what the entry is about.
  private static func takeMembers(
    of credential: JSONValue, value main: String, _ entry: inout SourceEntry
  ) {
    for (key, member) in credential.members ?? [] {
      switch String(decoding: key, as: UTF8.self) {
      case "type", "id", "extensions": continue
      // Taken by the one that calls, in another form.
      case "privateKey": continue
      case "url": if let url = entry.field("url", of: credential) { entry.urls.append(url) }
      case "username": entry.name(entry.field("username", of: credential))
      case main: entry.value(main, entry.field(main, of: credential))
      default: take(member, as: key, &entry)
      }
    }
  }

  /// Numbers by which one person is known, which the format does not conceal.
  private static let personal: Set<String> = [
    "passportNumber", "nationalIdentificationNumber", "documentNumber", "identificationNumber",
    "licenseNumber",
  ]

  private static func take(_ field: JSONValue, as key: [UInt8], _ entry: inout SourceEntry) {
    guard let value = entry.content(field, as: key) else { return }
    // What has a type that is not known may be a secret one.
    let isShown: Bool
    switch field["fieldType"]?.text.map({ String(decoding: $0, as: UTF8.self) }) {
    case "string", "email", "number", "boolean", "date", "year-month", "wifi-network-security-type",
      "subdivision-code", "country-code":
      isShown = !personal.contains(String(decoding: key, as: UTF8.self))
    case .some: isShown = false
    case nil: isShown = field.text != nil
    }
    entry.fields.append(.init(key: key, value: value, isSecret: !isShown))
  }

  private static func takeNote(_ text: [UInt8]?, _ entry: inout SourceEntry) {
    guard let text else { return }
    entry.notes = entry.notes.isEmpty ? text : entry.notes + [UInt8(ascii: "\n")] + text
  }

  /// Takes what makes codes. A further one is kept, hidden.
  private static func takeSeed(_ credential: JSONValue, _ entry: inout SourceEntry) {
    guard let secret = entry.field("secret", of: credential) else { return }
    let label = text(credential["username"]) ?? entry.title
    var settings: [(key: String, value: [UInt8])] = []
    if let issuer = text(credential["issuer"]) { settings.append(("issuer", issuer)) }
    if let name = text(credential["algorithm"]) {
      settings.append(("algorithm", Array(String(decoding: name, as: UTF8.self).uppercased().utf8)))
    }
    for key in ["period", "digits"] {
      if case .number(let digits)? = credential[key] { settings.append((key, digits)) }
    }
    let seed = SeedURI.make(secret, for: label, settings) ?? secret
    if entry.seed.isEmpty {
      entry.seed = seed
    } else {
      entry.fields.append(.init(key: Array("otp".utf8), value: seed, isSecret: true))
    }
  }

  /// A private key as PEM (RFC 7468); the document has its bytes in base64url.
  private static func pem(_ text: [UInt8]) -> [UInt8] {
    // One that is PEM already has blanks.
    if text.contains(UInt8(ascii: " ")) { return text }
    var digits = text.map { digit in
      switch digit {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: digit
      }
    }
    while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
    var lines = Array("-----BEGIN PRIVATE KEY-----\n".utf8)
    for start in stride(from: 0, to: digits.count, by: 64) {
      lines += digits[start..<min(start + 64, digits.count)] + [UInt8(ascii: "\n")]
    }
    return lines + Array("-----END PRIVATE KEY-----\n".utf8)
  }
}

extension SourceEntry {
  /// The text of a credential's member; nil where it is not there, or empty. Of what is none it is said.
  fileprivate mutating func field(_ name: String, of credential: JSONValue) -> [UInt8]? {
    credential[name].flatMap { content($0, as: Array(name.utf8)) }
  }

  /// The text of a field, likewise.
  fileprivate mutating func content(_ field: JSONValue, as key: [UInt8]) -> [UInt8]? {
    if let text = ExchangeSource.text(field) { return text }
    let isEmpty = field["value"]?.text != nil || field == .null || field.text != nil
    if !isEmpty { left.append(Remark(reason: .invalid, field: key)) }
    return nil
  }

  /// Takes a value; where there is one already, as a hidden field.
  fileprivate mutating func value(_ key: String, _ text: [UInt8]?) {
    guard let text else { return }
    if value == nil {
      value = text
    } else {
      fields.append(.init(key: Array(key.utf8), value: text, isSecret: true))
    }
  }

  /// Takes a user's name; where there is one already, as a field.
  fileprivate mutating func name(_ text: [UInt8]?) {
    guard let text, text != user else { return }
    if user.isEmpty { user = text } else { show("username", text) }
  }

  /// Takes a field that lists may show.
  fileprivate mutating func show(_ key: String, _ text: [UInt8]?) {
    guard let text else { return }
    fields.append(.init(key: Array(key.utf8), value: text, isSecret: false))
  }
}
