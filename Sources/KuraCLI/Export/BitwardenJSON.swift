// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes entries as the unencrypted JSON that Bitwarden and Vaultwarden import.
struct BitwardenJSON {
  /// Sorted by their bytes.
  private let folders: [String]

  /// Begins the document with all folders that its entries stand in.
  init(_ groups: [[String]], _ output: inout Output) throws(CommandError) {
    var all: [String] = []
    for group in groups {
      let folder = Self.folder(of: group[0])
      if !folder.isEmpty { all.append(folder) }
    }
    all.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var folders: [String] = []
    for folder in all where folders.last.map({ !$0.utf8.elementsEqual(folder.utf8) }) ?? true {
      folders.append(folder)
    }
    self.folders = folders
    try output.openObject()
    try output.member("encrypted", false)
    try output.key("folders")
    try output.openArray()
    for (index, folder) in folders.enumerated() {
      try output.openObject()
      try output.member("id", Self.id(index, ofFolder: true))
      try output.member("name", folder)
      try output.closeObject()
    }
    try output.closeArray()
    try output.key("items")
    try output.openArray()
  }

  func close(_ output: inout Output) throws(CommandError) {
    try output.closeArray()
    try output.closeObject()
    try output.write("\n")
    output.needsComma = false
  }

  /// Writes an entry.
  ///
  /// - Parameters:
  ///   - number: Its place among all.
  ///   - flaw: Is told of attachments, which the document has no place for.
  func write(
    _ entry: borrowing ExportedEntry, number: Int, _ items: inout ExportedItems,
    _ output: inout Output, flaw: (String, String) -> Void
  ) throws(CommandError) {
    let item = entry.item
    try output.openObject()
    try output.member("id", Self.id(number, ofFolder: false))
    try output.key("folderId")
    if let place = place(of: Self.folder(of: item.name)) {
      try output.element(Self.id(place, ofFolder: true))
    } else {
      try output.elementNull()
    }
    try output.member("type", 1)
    try output.member("name", entry.title)
    try output.member("favorite", false)
    try output.member("reprompt", item.facts.protection == .protected ? 1 : 0)
    try output.member("creationDate", moment: item.facts.created)
    try output.member("revisionDate", moment: item.facts.modified)
    try part("notes", .notes, entry, &output)
    try writeLogin(entry, &output, flaw)
    try writeFields(entry, &output, flaw)
    try writeHistory(of: entry, &items, &output, flaw)
    try output.closeObject()
    for part in entry.parts where part.role == .attachment {
      flaw(part.label, "an export of Bitwarden's has no attachments")
    }
  }
}

extension BitwardenJSON {
  private func writeLogin(
    _ entry: borrowing ExportedEntry, _ output: inout Output,
    _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    try output.key("login")
    try output.openObject()
    try output.key("username")
    let user = entry.attribute("user")
    if UTF8Scanner.isText(user.span), !user.isEmpty {
      try output.element(bytes: user.span)
    } else {
      try output.elementNull()
    }
    try part("password", .password, entry, &output)
    try part("totp", .code, entry, &output)
    try output.key("uris")
    try output.openArray()
    for attribute in entry.item.attributes where attribute.isURL {
      try output.openObject()
      try output.key("match")
      try output.elementNull()
      try output.member("uri", bytes: attribute.value.span)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeObject()
  }

  private func writeFields(
    _ entry: borrowing ExportedEntry, _ output: inout Output,
    _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    try output.key("fields")
    try output.openArray()
    for part in entry.parts where part.role == .field {
      try field(part.label, entry.bytes(part), isHidden: true, &output)
    }
    for attribute in entry.otherAttributes(than: ["user"]) where !attribute.isURL {
      guard UTF8Scanner.isText(attribute.value.span) else {
        flaw(attribute.key, "its value is no UTF-8 text")
        continue
      }
      try field(attribute.key, attribute.value.span, isHidden: false, &output)
    }
    try output.closeArray()
  }

  /// Writes the passwords before, the last of them first, each with the time when another one took its place.
  private func writeHistory(
    of entry: borrowing ExportedEntry, _ items: inout ExportedItems, _ output: inout Output,
    _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    try output.key("passwordHistory")
    try output.openArray()
    if let password = entry.first(.password) {
      var later = try Self.copy(entry.bytes(password))
      try items.eachEarlier(of: entry, flaw: flaw) { _, ended, value throws(CommandError) in
        // Of a change of something else there is no word.
        guard !later.isEqual(to: value) else { return }
        later = try Self.copy(value)
        try output.openObject()
        try output.member("lastUsedDate", moment: ended)
        try output.member("password", bytes: value)
        try output.closeObject()
      }
    }
    try output.closeArray()
  }

  private static func copy(_ value: Span<UInt8>) throws(CommandError) -> SecretBytes {
    do throws(SecureMemoryError) { return try SecretBytes(copying: value) } catch {
      throw .outOfMemory
    }
  }

  private func field(
    _ name: String, _ value: Span<UInt8>, isHidden: Bool, _ output: inout Output
  ) throws(CommandError) {
    try output.openObject()
    try output.member("name", name)
    try output.member("value", bytes: value)
    try output.member("type", isHidden ? 1 : 0)
    try output.closeObject()
  }

  private func part(
    _ key: String, _ role: ExportedEntry.Role, _ entry: borrowing ExportedEntry,
    _ output: inout Output
  ) throws(CommandError) {
    try output.key(key)
    if let part = entry.first(role) {
      try output.element(bytes: entry.bytes(part))
    } else {
      try output.elementNull()
    }
  }

  private static func folder(of name: String) -> String {
    guard let end = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: name.utf8[..<end], as: UTF8.self)
  }

  private func place(of folder: String) -> Int? {
    var (low, high) = (0, folders.count)
    while low < high {
      let middle = (low + high) / 2
      if folders[middle].utf8.lexicographicallyPrecedes(folder.utf8) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < folders.count, folders[low].utf8.elementsEqual(folder.utf8) else { return nil }
    return low
  }

  /// An id within the document, in the form of a UUID of one's own making (RFC 9562, version 8).
  private static func id(_ number: Int, ofFolder isFolder: Bool) -> String {
    let digits = "\(number)"
    return "00000000-0000-8000-8\(isFolder ? "1" : "0")00-"
      + String(repeating: "0", count: 12 - digits.utf8.count) + digits
  }
}
