// SPDX-License-Identifier: MIT

/// Turns Proton Pass's export into entries: the archive, or the `data.json` that stands in it.
struct ProtonSource {
  private let files: [[UInt8]: [UInt8]]
  private var place: UInt64 = 0

  private init(files: [[UInt8]: [UInt8]]) { self.files = files }

  /// Reads all of an archive.
  static func readArchive(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    let files = try Archive(bytes).files
    guard let document = files[Array("Proton Pass/data.json".utf8)] else {
      let isSealed = files[Array("Proton Pass/data.pgp".utf8)] != nil
      throw isSealed ? ReadingFlaw(.pgp) : ReadingFlaw(.archiveFile, "Proton Pass/data.json")
    }
    try read(try Source.text(document), files, &sink)
  }

  /// Reads all of the document.
  ///
  /// - Parameter files: Those of the archive that it stands in.
  static func read(
    _ bytes: [UInt8], _ files: [[UInt8]: [UInt8]], _ sink: inout EntrySink
  ) throws(ReadingFlaw) {
    if bytes.starts(with: Array("-----BEGIN PGP".utf8)) { throw ReadingFlaw(.pgp) }
    let document = try JSONReader.read(bytes[...])
    if document["encrypted"]?.isTrue == true { throw ReadingFlaw(.encrypted) }
    guard let vaults = document["vaults"]?.members else { throw ReadingFlaw(.member, "vaults") }
    var source = ProtonSource(files: files)
    for (_, vault) in vaults {
      guard let items = vault["items"]?.elements else { throw ReadingFlaw(.member, "items") }
      let folder = vault["name"]?.text ?? []
      if vault["description"]?.holdsAnything == true {
        sink.take(Remark(reason: .unsupported, field: Array("description of ".utf8) + folder))
      }
      for item in items { try sink.take(try source.entry(item, folder)) }
    }
  }

  private mutating func entry(_ item: JSONValue, _ folder: [UInt8]) throws(ReadingFlaw)
    -> SourceEntry
  {
    place += 1
    guard let data = item["data"], data.members != nil else {
      throw ReadingFlaw(.member, at: place, "data")
    }
    var entry = SourceEntry()
    entry.place = place
    entry.folders = [folder]
    let metadata = entry.object("metadata", of: data)
    entry.title = entry.text("name", of: metadata)
    entry.notes = entry.text("note", of: metadata)
    entry.created = Self.time(item["createTime"])
    entry.modified = Self.time(item["modifyTime"])
    if item["pinned"]?.isTrue == true { entry.tags.append(Array("pinned".utf8)) }
    if item["state"]?.whole == 2 { entry.manner.insert(.trashed) }
    take(data, item, &entry)
    for field in entry.elements("extraFields", of: data) { Self.take(field, &entry) }
    takeApps(entry.object("platformSpecific", of: data), &entry)
    for file in entry.elements("files", of: item) { attach(file.text ?? [], &entry) }
    entry.leave(
      membersOf: data, but: ["metadata", "extraFields", "type", "content", "platformSpecific"])
    return entry
  }

  /// The programs of Android in which an entry is filled in.
  private func takeApps(_ object: JSONValue?, _ entry: inout SourceEntry) {
    guard let object else { return }
    let android = entry.object("android", of: object)
    for app in entry.elements("allowedApps", of: android) {
      let name = entry.text("packageName", of: app)
      guard !name.isEmpty else { continue }
      entry.fields.append(.init(key: Array("android-app".utf8), value: name, isSecret: false))
    }
    if let android { entry.leave(membersOf: android, but: ["allowedApps"], .foreign) }
    entry.leave(membersOf: object, but: ["android"], .foreign)
  }

  /// A file of the archive. In the document alone there is its name.
  private func attach(_ path: [UInt8], _ entry: inout SourceEntry) {
    let name = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
    for folder in ["Proton Pass/files/", "Proton Pass/", "files/", ""] {
      guard let bytes = files[Array(folder.utf8) + path] else { continue }
      return entry.attachments.append(.init(name: name, bytes: bytes))
    }
    let field = name.isEmpty ? Array("files".utf8) : name
    entry.left.append(Remark(reason: .unsupported, field: field))
  }

  private static func time(_ value: JSONValue?) -> UInt64 {
    guard let seconds = value?.whole, seconds < 1 << 40 else { return 0 }
    return seconds * 1_000
  }

  private func take(_ data: JSONValue, _ item: JSONValue, _ entry: inout SourceEntry) {
    let content = entry.object("content", of: data) ?? .null
    switch data["type"]?.text.map({ String(decoding: $0, as: UTF8.self) }) {
    case "login": takeLogin(content, &entry)
    case "note": break
    case "alias":
      if let address = item["aliasEmail"]?.text {
        entry.fields.append(.init(key: Array("alias".utf8), value: address, isSecret: false))
      }
    case "creditCard":
      JSONFields.take(
        content, value: "number", open: ["cardholderName", "cardType", "expirationDate"],
        into: &entry)
    case "identity":
      JSONFields.take(
        content, value: nil,
        open: Self.personal,
        besides: Set(Self.extras + ["sections"]), into: &entry)
      takeSections(content, "sections", &entry)
      for group in Self.extras {
        for field in entry.elements(group, of: content) { Self.take(field, &entry) }
      }
    case "sshKey":
      JSONFields.take(
        content, value: "privateKey", open: ["publicKey"], besides: ["sections"], into: &entry)
      takeSections(content, "sections", &entry)
    case "wifi":
      JSONFields.take(
        content, value: "password", open: ["ssid", "security"], besides: ["sections"],
        into: &entry)
      takeSections(content, "sections", &entry)
    case "custom": takeSections(content, "sections", &entry)
    case .some, nil: entry.left.append(Remark(reason: .unsupported, field: Array("type".utf8)))
    }
  }

  /// What lists may show of an identity: its numbers are not among it.
  private static let personal: Set<String> = [
    "fullName", "firstName", "middleName", "lastName", "birthdate", "gender", "email",
    "phoneNumber", "secondPhoneNumber", "organization", "streetAddress", "floor", "city", "county",
    "zipOrPostalCode", "stateOrProvince", "countryOrRegion", "website", "personalWebsite",
    "xHandle", "linkedin", "reddit", "facebook", "yahoo", "instagram", "company", "jobTitle",
    "workPhoneNumber", "workEmail",
  ]

  /// Fields of an identity that a person has added.
  private static let extras = [
    "extraPersonalDetails", "extraAddressDetails", "extraContactDetails", "extraWorkDetails",
  ]

  private func takeLogin(_ content: JSONValue, _ entry: inout SourceEntry) {
    let address = entry.text("itemEmail", of: content)
    let key = content["itemUsername"] == nil ? "username" : "itemUsername"
    let user = entry.text(key, of: content)
    entry.user = user.isEmpty ? address : user
    if !user.isEmpty, !address.isEmpty {
      entry.fields.append(.init(key: Array("email".utf8), value: address, isSecret: false))
    }
    let password = entry.text("password", of: content)
    if !password.isEmpty { entry.value = password }
    entry.seed = entry.text("totpUri", of: content)
    entry.urls = entry.texts("urls", of: content)
    for _ in entry.elements("passkeys", of: content) {
      entry.left.append(Remark(reason: .unsupported, field: Array("passkey".utf8)))
    }
    entry.leave(
      membersOf: content,
      but: ["itemEmail", "itemUsername", "username", "password", "totpUri", "urls", "passkeys"])
  }

  private func takeSections(_ content: JSONValue, _ name: String, _ entry: inout SourceEntry) {
    for section in entry.elements(name, of: content) {
      entry.leave(sectionTitle: section["sectionName"])
      for field in entry.elements("sectionFields", of: section) { Self.take(field, &entry) }
    }
  }

  /// Takes a field that a person made. A further seed of codes is kept, hidden.
  private static func take(_ field: JSONValue, _ entry: inout SourceEntry) {
    let key = entry.text("fieldName", of: field)
    let data = entry.object("data", of: field)
    let type = field["type"]?.text.map { String(decoding: $0, as: UTF8.self) }
    let content = ["content", "totpUri", "timestamp"].compactMap { data?[$0] }.first ?? .null
    guard let value = entry.taken(content, as: key), !value.isEmpty else { return }
    if type == "totp", entry.seed.isEmpty {
      entry.seed = value
    } else {
      let isShown = type == "text" || type == "timestamp"
      entry.fields.append(.init(key: key, value: value, isSecret: !isShown))
    }
  }
}
