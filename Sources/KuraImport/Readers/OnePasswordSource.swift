// SPDX-License-Identifier: MIT

/// Turns 1Password's 1PUX export into entries: an archive with `export.data`, JSON, and the files of its items.
struct OnePasswordSource {
  private let files: [[UInt8]: [UInt8]]
  private var place: UInt64 = 0

  /// Reads all of it.
  static func read(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    let archive = try Archive(bytes)
    let attributes = try document("export.attributes", in: archive)
    guard attributes["version"]?.whole == 3 else { throw ReadingFlaw(.member, "version") }
    let document = try document("export.data", in: archive)
    guard let accounts = document["accounts"]?.elements else {
      throw ReadingFlaw(.member, "accounts")
    }
    var source = OnePasswordSource(files: archive.files)
    for account in accounts {
      guard let vaults = account["vaults"]?.elements else { throw ReadingFlaw(.member, "vaults") }
      // Where there is one account, it says nothing.
      let outer = accounts.count > 1 ? [account["attrs"]?["accountName"]?.text ?? []] : []
      for vault in vaults {
        guard let items = vault["items"]?.elements else { throw ReadingFlaw(.member, "items") }
        let name = vault["attrs"]?["name"]?.text ?? []
        if vault["attrs"]?["desc"]?.holdsAnything == true {
          sink.take(Remark(reason: .unsupported, field: Array("description of ".utf8) + name))
        }
        let folders = outer + [name]
        for item in items { try sink.take(try source.entry(item, folders)) }
      }
    }
  }

  private static func document(
    _ name: String, in archive: Archive
  ) throws(ReadingFlaw) -> JSONValue {
    guard let content = archive.files[Array(name.utf8)] else {
      throw ReadingFlaw(.archiveFile, name)
    }
    return try JSONReader.read(try Source.text(content)[...])
  }

  private init(files: [[UInt8]: [UInt8]]) { self.files = files }

  private mutating func entry(
    _ item: JSONValue, _ folders: [[UInt8]]
  ) throws(ReadingFlaw) -> SourceEntry {
    place += 1
    guard let overview = item["overview"], overview.members != nil else {
      throw ReadingFlaw(.member, at: place, "overview")
    }
    guard let details = item["details"], details.members != nil else {
      throw ReadingFlaw(.member, at: place, "details")
    }
    var entry = SourceEntry()
    entry.place = place
    entry.folders = folders
    entry.title = entry.text("title", of: overview)
    entry.created = Self.time(item["createdAt"])
    entry.modified = Self.time(item["updatedAt"])
    for element in entry.elements("urls", of: overview) {
      let url = entry.text("url", of: element)
      if !url.isEmpty { entry.urls.append(url) }
    }
    let url = entry.text("url", of: overview)
    if !url.isEmpty, !entry.urls.contains(url) { entry.urls.insert(url, at: 0) }
    entry.tags = entry.texts("tags", of: overview)
    if let place = item["favIndex"]?.whole, place > 0 { entry.tags.append(Array("favorite".utf8)) }
    switch item["state"]?.text.map({ String(decoding: $0, as: UTF8.self) }) {
    case "archived": entry.tags.append(Array("archived".utf8))
    case "deleted", "trashed": entry.manner.insert(.trashed)
    case .some, nil: break
    }
    take(details, item["categoryUuid"]?.text ?? [], &entry)
    return entry
  }

  static func time(_ value: JSONValue?) -> UInt64 {
    guard let seconds = value?.whole, seconds < 1 << 40 else { return 0 }
    return seconds * 1_000
  }

  // MARK: - Details

  private func take(_ details: JSONValue, _ category: [UInt8], _ entry: inout SourceEntry) {
    for (key, value) in details.members ?? [] {
      switch String(decoding: key, as: UTF8.self) {
      case "loginFields": takeLogin(details, &entry)
      case "notesPlain": entry.notes = entry.text("notesPlain", of: details)
      case "password": setValue(entry.text("password", of: details), &entry)
      case "sections":
        for section in entry.elements("sections", of: details) {
          entry.leave(sectionTitle: section["title"])
          for field in entry.elements("fields", of: section) {
            OnePasswordField.take(field, category, files, &entry)
          }
        }
      case "passwordHistory": takeHistory(details, &entry)
      case "documentAttributes": OnePasswordField.attach(value, files, &entry)
      case "passkey":
        if value != .null { entry.left.append(Remark(reason: .unsupported, field: key)) }
      case _:
        // What the forms of web pages were made of.
        if value != .null, value != .string([]), value.elements?.isEmpty != true {
          entry.left.append(Remark(reason: .foreign, field: key))
        }
      }
    }
  }

  private func setValue(_ value: [UInt8], _ entry: inout SourceEntry) {
    if !value.isEmpty { entry.value = value }
  }

  /// The fields of a web page's form: of some it is known that they are user and password.
  private func takeLogin(_ details: JSONValue, _ entry: inout SourceEntry) {
    for field in entry.elements("loginFields", of: details) {
      let value = entry.text("value", of: field)
      guard !value.isEmpty else { continue }
      switch field["designation"]?.text.map({ String(decoding: $0, as: UTF8.self) }) {
      case "username": entry.user = value
      case "password": entry.value = value
      case .some, nil:
        // A button is no field.
        if field["fieldType"]?.text == Array("I".utf8) { continue }
        let name = field["name"]?.text ?? []
        entry.fields.append(
          .init(key: name.isEmpty ? field["id"]?.text ?? [] : name, value: value, isSecret: true))
      }
    }
  }

  private func takeHistory(_ details: JSONValue, _ entry: inout SourceEntry) {
    var earlier: [(time: UInt64, value: [UInt8])] = []
    for revision in entry.elements("passwordHistory", of: details) {
      let value = entry.text("value", of: revision)
      guard !value.isEmpty else { continue }
      earlier.append((Self.time(revision["time"]), value))
    }
    // The file has the newest first.
    entry.history = earlier.reversed().sorted { $0.time < $1.time }.map(\.value)
  }
}
