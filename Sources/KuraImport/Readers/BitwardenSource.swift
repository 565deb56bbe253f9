// SPDX-License-Identifier: MIT

/// Turns Bitwarden's JSON export, one's own or an organisation's, into entries: the document, or an archive with it and with
/// the files of its items.
struct BitwardenSource {
  private let document: JSONValue
  /// Those of the archive, by the ids of their items.
  private var files: [[UInt8]: [SourceEntry.Attachment]] = [:]
  /// Folders and collections by their ids.
  private var names: [[UInt8]: [[UInt8]]] = [:]

  private init(_ document: JSONValue) { self.document = document }

  /// Reads all of an archive.
  static func readArchive(
    _ bytes: [UInt8], _ password: [UInt8]?, _ sink: inout EntrySink
  ) throws(ReadingFlaw) {
    let archive = try Archive(bytes)
    guard let content = archive.files[Array(documentName.utf8)] else {
      throw ReadingFlaw(.archiveFile, documentName)
    }
    var source = BitwardenSource(try opened(try Source.text(content), password))
    for (path, content) in archive.files.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 2).map { Array($0) }
      if parts.count == 3, parts[0] == Array("attachments".utf8) {
        source.files[parts[1], default: []].append(.init(name: parts[2], bytes: content))
      } else if path != Array(documentName.utf8) {
        sink.take(Remark(reason: .unsupported, field: path))
      }
    }
    try source.read(&sink)
    for file in source.files.values.joined() {
      sink.take(Remark(reason: .invalid, field: file.name))
    }
  }

  private static let documentName = "data.json"

  /// Reads all of the document.
  ///
  /// - Parameter password: What opens it, where it is sealed and one was given.
  static func read(
    _ bytes: [UInt8], _ password: [UInt8]?, _ sink: inout EntrySink
  ) throws(ReadingFlaw) {
    var source = BitwardenSource(try opened(bytes, password))
    try source.read(&sink)
  }

  private static func opened(
    _ bytes: [UInt8], _ password: [UInt8]?
  ) throws(ReadingFlaw) -> JSONValue {
    let document = try JSONReader.read(bytes[...])
    guard document["encrypted"]?.isTrue == true else { return document }
    guard document["passwordProtected"]?.isTrue == true else { throw ReadingFlaw(.accountBound) }
    let content = try Source.text(try BitwardenSeal.open(document, password))
    return try JSONReader.read(content[...])
  }

  private mutating func read(_ sink: inout EntrySink) throws(ReadingFlaw) {
    guard let items = document["items"]?.elements else { throw ReadingFlaw(.member, "items") }
    for folder in (document["folders"]?.elements ?? []) + (document["collections"]?.elements ?? [])
    {
      guard let id = folder["id"]?.text, let name = folder["name"]?.text else { continue }
      names[id] = name.split(separator: UInt8(ascii: "/")).map { Array($0) }
    }
    for (index, item) in items.enumerated() { try sink.take(try entry(item, UInt64(index + 1))) }
  }

  private mutating func entry(_ item: JSONValue, _ place: UInt64) throws(ReadingFlaw) -> SourceEntry
  {
    guard item.members != nil else { throw ReadingFlaw(.member, at: place, "items") }
    var entry = SourceEntry()
    entry.place = place
    guard let name = item["name"]?.text else { throw ReadingFlaw(.member, at: place, "name") }
    entry.title = name
    entry.notes = entry.text("notes", of: item)
    setFolders(of: item, &entry)
    entry.created = Timestamp.parse(item["creationDate"]?.text ?? [])
    entry.modified = Timestamp.parse(item["revisionDate"]?.text ?? [])
    if item["favorite"]?.isTrue == true { entry.tags.append(Array("favorite".utf8)) }
    if let date = item["archivedDate"], date != .null { entry.tags.append(Array("archived".utf8)) }
    if let deleted = item["deletedDate"], deleted != .null { entry.manner.insert(.trashed) }
    if item["reprompt"]?.whole == 1 { entry.manner.insert(.protected) }
    takeKind(of: item, &entry)
    takeFields(of: item, &entry)
    takeHistory(of: item, &entry)
    let areNamed = !entry.elements("attachments", of: item).isEmpty
    if let files = item["id"]?.text.flatMap({ files.removeValue(forKey: $0) }) {
      entry.attachments = files
    } else if areNamed {
      entry.left.append(Remark(reason: .unsupported, field: Array("attachments".utf8)))
    }
    entry.leave(membersOf: item, but: Self.members)
    return entry
  }

  /// Those of an item that are taken, or tell of the export alone.
  private static let members: Set<String> = [
    "id", "organizationId", "folderId", "collectionIds", "type", "reprompt", "name", "notes",
    "favorite", "creationDate", "revisionDate", "deletedDate", "archivedDate", "fields", "login",
    "secureNote", "card", "identity", "sshKey", "passwordHistory", "attachments", "object",
    "passwordRevisionDate", "edit", "viewPassword", "organizationUseTotp", "permissions", "key",
  ]

  /// Puts an entry into the first of its folder and collections; of the others it is said.
  private func setFolders(of item: JSONValue, _ entry: inout SourceEntry) {
    let ids = [item["folderId"]?.text] + entry.texts("collectionIds", of: item)
    var isPlaced = false
    for id in ids.compactMap({ $0 }) {
      guard let path = names[id] else {
        entry.left.append(Remark(reason: .invalid, field: Array("folder".utf8)))
        continue
      }
      if isPlaced {
        let name = path.joined(separator: [UInt8(ascii: "/")])
        entry.left.append(
          Remark(reason: .unsupported, field: Array("collection ".utf8) + name))
      } else {
        (entry.folders, isPlaced) = (path, true)
      }
    }
  }

  /// What is of a kind of item: a login, a note, a card, an identity, a key.
  private func takeKind(of item: JSONValue, _ entry: inout SourceEntry) {
    switch item["type"]?.whole {
    case 1: if let login = entry.object("login", of: item) { takeLogin(login, &entry) }
    case 2: break
    case 3:
      let card = entry.object("card", of: item)
      JSONFields.take(
        card, value: "number", open: ["cardholderName", "brand", "expMonth", "expYear"],
        into: &entry)
    case 4:
      let identity = entry.object("identity", of: item)
      JSONFields.take(identity, value: nil, open: Self.personal, into: &entry)
      if let user = identity?["username"]?.text { entry.user = user }
    case 5:
      let key = entry.object("sshKey", of: item)
      JSONFields.take(
        key, value: "privateKey", open: ["publicKey", "keyFingerprint"], into: &entry)
    default: entry.left.append(Remark(reason: .unsupported, field: Array("type".utf8)))
    }
  }

  /// What lists may show of an identity: its numbers are not among it.
  private static let personal: Set<String> = [
    "title", "firstName", "middleName", "lastName", "username", "company", "email", "phone",
    "address1", "address2", "address3", "city", "state", "postalCode", "country",
  ]

  private func takeLogin(_ login: JSONValue, _ entry: inout SourceEntry) {
    entry.user = entry.text("username", of: login)
    let password = entry.text("password", of: login)
    if !password.isEmpty { entry.value = password }
    entry.seed = entry.text("totp", of: login)
    for uri in entry.elements("uris", of: login) {
      let url = entry.text("uri", of: uri)
      if !url.isEmpty { entry.urls.append(url) }
      entry.leave(membersOf: uri, but: ["uri", "uriChecksum"], .foreign)
    }
    for _ in entry.elements("fido2Credentials", of: login) {
      entry.left.append(Remark(reason: .unsupported, field: Array("passkey".utf8)))
    }
    entry.leave(
      membersOf: login,
      but: [
        "username", "password", "totp", "uris", "fido2Credentials", "passwordRevisionDate", "uri",
      ], .foreign)
  }

  private func takeFields(of item: JSONValue, _ entry: inout SourceEntry) {
    for field in entry.elements("fields", of: item) {
      let key = entry.text("name", of: field)
      switch field["type"]?.whole {
      // One that shows another field of the same entry.
      case 3: entry.left.append(Remark(reason: .foreign, field: key))
      case let type:
        let value = entry.text("value", of: field)
        guard !value.isEmpty else { continue }
        entry.fields.append(.init(key: key, value: value, isSecret: type != 0 && type != 2))
      }
    }
  }

  private func takeHistory(of item: JSONValue, _ entry: inout SourceEntry) {
    var earlier: [(time: UInt64, value: [UInt8])] = []
    for revision in entry.elements("passwordHistory", of: item) {
      let value = entry.text("password", of: revision)
      guard !value.isEmpty else { continue }
      earlier.append((Timestamp.parse(revision["lastUsedDate"]?.text ?? []), value))
    }
    // The file has the newest first.
    entry.history = earlier.reversed().sorted { $0.time < $1.time }.map(\.value)
  }
}
