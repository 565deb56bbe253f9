// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraTerms

/// Tells by its beginning which form a source has: by words that no other form begins with.
enum Recognition {
  /// How much of a source is looked at.
  static let most = 65_536

  /// The form of a folder or file.
  ///
  /// - Returns: Nil for none that is known.
  static func format(at path: String) throws(FileError) -> ImportFormat? {
    if StoreFiles.kind(path + "/.") == .folder {
      return StoreFiles.kind(path + "/.gpg-id") == .file ? .pass : nil
    }
    let file = try Descriptor.open(path: path)
    defer { Descriptor.close(file) }
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: most)
    while bytes.count < most {
      var span = room.mutableSpan
      let count = System.read(file, into: &span)
      guard count > 0 else { break }
      bytes += room[..<count]
    }
    return format(of: bytes)
  }

  /// The form of what begins so.
  static func format(of bytes: [UInt8]) -> ImportFormat? {
    if Archive.isOne(bytes) { return archive(bytes) }
    let text = String(decoding: bytes.prefix(most), as: UTF8.self)
    let start = text.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    if start.hasPrefix("<") { return start.contains("<KeePassFile") ? .keepassXML : nil }
    if start.hasPrefix("{") { return json(start) }
    let line = start.prefix { !$0.isNewline }
    return table(line) ?? (assignment(start) ? .dotenv : nil)
  }

  /// An archive by the name of its first file.
  private static func archive(_ bytes: [UInt8]) -> ImportFormat? {
    guard bytes.count >= 30 else { return nil }
    let count = Int(bytes[26]) | Int(bytes[27]) << 8
    let name = String(decoding: bytes.dropFirst(30).prefix(count), as: UTF8.self)
    if name.hasPrefix("Proton Pass/") { return .protonJSON }
    if name == "data.json" || name.hasPrefix("attachments/") { return .bitwardenJSON }
    return name == "export.attributes" || name == "export.data" || name.hasPrefix("files/")
      ? .onePUX : nil
  }

  private static func json(_ text: Substring) -> ImportFormat? {
    let line = text.prefix { !$0.isNewline }
    func has(_ key: String) -> Bool { text.contains("\"" + key + "\"") }
    if line.contains("\"name\""), line.contains("\"value\"") || line.contains("\"kind\"") {
      return .jsonLines
    }
    if has("accounts"), has("exporterRpId") || has("version") { return .cxf }
    if has("vaults"), has("version") { return .protonJSON }
    if has("encrypted"), has("items") || has("data") || has("folders") { return .bitwardenJSON }
    return nil
  }

  /// A table by its columns.
  private static func table(_ line: Substring) -> ImportFormat? {
    let columns = Set(
      line.split(separator: ",").map { column in
        String(column.filter { $0 != "\"" && $0 != "\r" }).lowercased()
      })
    let marks: [(ImportFormat, [String])] = [
      (.firefoxCSV, ["url", "username", "password", "httprealm"]),
      (.lastpassCSV, ["url", "username", "password", "extra", "grouping"]),
      (.keepassxcCSV, ["group", "title", "username", "password"]),
      (.appleCSV, ["title", "url", "username", "password"]),
      (.chromeCSV, ["name", "url", "username", "password"]),
    ]
    for (format, wanted) in marks where columns.isSuperset(of: wanted) { return format }
    return nil
  }

  /// Whether the first line that is no comment sets a variable.
  private static func assignment(_ text: Substring) -> Bool {
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.drop { $0.isWhitespace }
      if line.isEmpty || line.hasPrefix("#") { continue }
      let bare = line.hasPrefix("export ") ? line.dropFirst(7) : line
      guard let equals = bare.firstIndex(of: "=") else { return false }
      let name = bare[..<equals]
      return !name.isEmpty
        && name.utf8.allSatisfy { byte in
          byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte)
            || (0x61...0x7A).contains(byte | 0x20)
        }
    }
    return false
  }
}
