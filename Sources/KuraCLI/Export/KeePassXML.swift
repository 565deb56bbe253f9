// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes entries as the XML that KeePass 2 and KeePassXC import, with fields of their own, attachments and the
/// passwords before.
struct KeePassXML: ~Copyable {
  /// The folders that are open.
  private var path: [String] = []
  private var random: RandomSource

  private init(_ random: consuming RandomSource) { self.random = random }

  /// Begins the document.
  static func begin(_ output: inout Output) throws(CommandError) -> KeePassXML {
    var document = KeePassXML(try RandomSource())
    try output.write(
      "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<KeePassFile>\n")
    try output.write("<Meta><Generator>Kura</Generator></Meta>\n<Root>\n")
    try document.openGroup("Root", &output)
    return document
  }

  mutating func close(_ output: inout Output) throws(CommandError) {
    try leave(to: 0, &output)
    try output.write("</Group>\n</Root>\n</KeePassFile>\n")
  }

  /// Writes an entry. Entries come in the order of their names, so that each folder is open once.
  ///
  /// - Parameter flaw: Is told of what XML cannot hold.
  mutating func write(
    _ entry: borrowing ExportedEntry, _ items: inout ExportedItems, _ output: inout Output,
    flaw: (String, String) -> Void
  ) throws(CommandError) {
    try enter(entry.folders, &output)
    try openEntry(entry.item, entry.title, &output)
    try output.string("UserName", entry.attribute("user").span, flaw)
    try output.string("URL", entry.attribute("url").span, flaw)
    var keys = KeyNumbering(["Title", "UserName", "URL", "Password", "Notes", "otp"])
    for part in entry.parts {
      let bytes = entry.bytes(part)
      switch part.role {
      case .password: try output.string("Password", bytes, isSecret: true, flaw)
      case .notes: try output.string("Notes", bytes, flaw)
      case .code: try output.string("otp", bytes, isSecret: true, flaw)
      case .field: try output.string(keys.free(part.label), bytes, isSecret: true, flaw)
      case .attachment: try output.attachment(part.label, bytes)
      }
    }
    for attribute in entry.otherAttributes(than: ["user", "url"]) {
      try output.string(keys.free(attribute.key), attribute.value.span, flaw)
    }
    try writeHistory(of: entry, &items, &output, flaw)
    try output.write("</Entry>\n")
  }
}

// MARK: - Folders

extension KeePassXML {
  private mutating func enter(_ folders: [String], _ output: inout Output) throws(CommandError) {
    var common = 0
    while common < min(path.count, folders.count),
      path[common].utf8.elementsEqual(folders[common].utf8)
    { common += 1 }
    try leave(to: common, &output)
    for folder in folders[common...] {
      try openGroup(folder, &output)
      path.append(folder)
    }
  }

  private mutating func leave(to depth: Int, _ output: inout Output) throws(CommandError) {
    while path.count > depth {
      try output.write("</Group>\n")
      path.removeLast()
    }
  }

  private mutating func openGroup(
    _ name: String, _ output: inout Output
  ) throws(CommandError) {
    try output.write("<Group>")
    try writeID(&output)
    try output.write("<Name>")
    try output.write(xml: Array(name.utf8).span)
    try output.write("</Name>\n")
  }
}

// MARK: - Entries

extension KeePassXML {
  private mutating func openEntry(
    _ item: Item, _ title: String, _ output: inout Output
  ) throws(CommandError) {
    try output.write("<Entry>")
    try writeID(&output)
    let times = item.facts
    try output.write("<Times><CreationTime>" + Moment.rfc3339(times.created).wholeSeconds)
    try output.write(
      "</CreationTime><LastModificationTime>" + Moment.rfc3339(times.modified).wholeSeconds)
    try output.write("</LastModificationTime></Times>\n")
    // Names have no characters that XML cannot hold.
    try output.string("Title", Array(title.utf8).span) { _, _ in }
  }

  /// Writes the passwords before, each as the entry that it was.
  private mutating func writeHistory(
    of entry: borrowing ExportedEntry, _ items: inout ExportedItems, _ output: inout Output,
    _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    guard entry.first(.password) != nil else { return }
    let title = entry.title
    var isOpen = false
    try items.eachEarlier(of: entry, flaw: flaw, fromFirst: true) {
      item, _, value throws(CommandError) in
      if !isOpen { try output.write("<History>\n") }
      isOpen = true
      try openEntry(item, title, &output)
      try output.string("Password", value, isSecret: true, flaw)
      try output.write("</Entry>\n")
    }
    if isOpen { try output.write("</History>\n") }
  }

  private mutating func writeID(_ output: inout Output) throws(CommandError) {
    var bytes: [UInt8] = []
    for _ in 0..<16 { bytes.append(UInt8(try random.number(below: 256))) }
    try output.write("<UUID>")
    try output.write(base64: bytes.span)
    try output.write("</UUID>")
  }
}

extension String {
  /// A moment without its milliseconds, which KeePass does not read.
  fileprivate var wholeSeconds: String {
    String(decoding: utf8.dropLast(5), as: UTF8.self) + "Z"
  }
}

// MARK: - Text

extension Output {
  fileprivate mutating func string(
    _ key: String, _ value: Span<UInt8>, isSecret: Bool = false,
    _ flaw: (String, String) -> Void
  ) throws(CommandError) {
    guard Self.isXML(value) else {
      return flaw(key, "XML holds no control characters, and nothing but text")
    }
    try write("<String><Key>")
    try write(xml: Array(key.utf8).span)
    try write(isSecret ? "</Key><Value ProtectInMemory=\"True\">" : "</Key><Value>")
    try write(xml: value)
    try write("</Value></String>\n")
  }

  fileprivate mutating func attachment(
    _ name: String, _ bytes: Span<UInt8>
  ) throws(CommandError) {
    try write("<Binary><Key>")
    try write(xml: Array(name.utf8).span)
    try write("</Key><Value>")
    try write(base64: bytes)
    try write("</Value></Binary>\n")
  }

  fileprivate mutating func write(base64 bytes: Span<UInt8>) throws(CommandError) {
    var base64 = Base64()
    try append(bytes, &base64)
    try finish(&base64)
  }

  /// Whether XML 1.0 can hold a text: no control characters but tabs and ends of lines.
  private static func isXML(_ text: Span<UInt8>) -> Bool {
    let isHeld = text.indices.allSatisfy {
      text[$0] >= 0x20 || [0x09, 0x0A, 0x0D].contains(text[$0])
    }
    guard isHeld else { return false }
    // U+FFFE and U+FFFF are none of its characters either.
    for index in text.indices.dropLast(2) where text[index] == 0xEF && text[index + 1] == 0xBF {
      if text[index + 2] >= 0xBE { return false }
    }
    return UTF8Scanner.isText(text)
  }

  fileprivate mutating func write(xml text: Span<UInt8>) throws(CommandError) {
    var start = 0
    for index in text.indices {
      let entity: String
      switch text[index] {
      case UInt8(ascii: "&"): entity = "&amp;"
      case UInt8(ascii: "<"): entity = "&lt;"
      case UInt8(ascii: ">"): entity = "&gt;"
      // A reader makes a newline of one that stands there as it is.
      case 0x0D: entity = "&#13;"
      default: continue
      }
      try write(text.extracting(start..<index))
      try write(entity)
      start = index + 1
    }
    try write(text.extracting(start..<text.count))
  }
}

/// Numbers keys that others have already, as kura-import(1) does: `Title-2`.
private struct KeyNumbering {
  private var taken: [String]

  init(_ taken: [String]) { self.taken = taken }

  mutating func free(_ key: String) -> String {
    var (free, number) = (key, 1)
    while taken.contains(where: { $0.utf8.elementsEqual(free.utf8) }) {
      number += 1
      free = key + "-\(number)"
    }
    taken.append(free)
    return free
  }
}
