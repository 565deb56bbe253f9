// SPDX-License-Identifier: MIT

/// Reads Kura's own items: a JSON object a line, as `kura get --json` writes one.
enum JSONLinesSource {
  /// Reads all of it.
  static func read(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    var line: UInt64 = 0
    var begun: SourceEntry?
    for text in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      line += 1
      guard text.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
      let document = try JSONReader.read(text, at: line)
      var entry: SourceEntry
      if let first = begun.take() {
        entry = first
        try goOn(with: document, &entry, at: line)
      } else {
        entry = try Self.entry(document, at: line)
      }
      if try goesOn(document, line) { begun = entry } else { try sink.take(entry) }
    }
    if let begun { throw ReadingFlaw(.member, at: begun.place, "more") }
  }

  /// Whether the next line goes on with a value.
  private static func goesOn(
    _ document: JSONValue, _ line: UInt64
  ) throws(ReadingFlaw) -> Bool {
    guard let more = document["more"] else { return false }
    guard case .boolean(let goesOn) = more else { throw ReadingFlaw(.member, at: line, "more") }
    return goesOn
  }

  /// Takes the rest of a value, or a further part of it.
  private static func goOn(
    with document: JSONValue, _ entry: inout SourceEntry, at line: UInt64
  ) throws(ReadingFlaw) {
    guard document["name"]?.text == entry.title else {
      throw ReadingFlaw(.member, at: line, "name")
    }
    guard var value = entry.value, let piece = content(document["value"]) else {
      throw ReadingFlaw(.member, at: line, "value")
    }
    entry.value = nil
    value += piece
    entry.value = value
    entry.leave(membersOf: document, but: ["name", "value", "more", "schema"])
  }

  private static func entry(
    _ document: JSONValue, at line: UInt64
  ) throws(ReadingFlaw) -> SourceEntry {
    guard document.members != nil else { throw ReadingFlaw(.notJSON, at: line) }
    var entry = SourceEntry()
    entry.place = line
    entry.manner = .own
    guard let name = document["name"]?.text else { throw ReadingFlaw(.member, at: line, "name") }
    if let schema = document["schema"], schema.whole != 1 {
      throw ReadingFlaw(.member, at: line, "schema")
    }
    entry.title = name
    entry.created = try time(document["created"], "created", line)
    entry.modified = try time(document["modified"], "modified", line)
    guard entry.modified != 0 || entry.created == 0 else {
      throw ReadingFlaw(.member, at: line, "modified")
    }
    if document["kind"]?.text == Array("deleted".utf8), entry.modified != 0 {
      entry.manner.insert(.deleted)
      if let value = document["value"], content(value) != [] {
        throw ReadingFlaw(.member, at: line, "value")
      }
    } else {
      guard let value = content(document["value"]) else {
        throw ReadingFlaw(.member, at: line, "value")
      }
      entry.value = value
    }
    if try isProtected(document, line) { entry.manner.insert(.protected) }
    entry.leave(membersOf: document, but: members)
    if !entry.manner.contains(.deleted),
      try isWord("otp", document["kind"], of: ["value"], "kind", line)
    {
      entry.manner.insert(.code)
    }
    for name in ["attributes", "secret-attributes"] {
      try take(document, name, isSecret: name != "attributes", line, &entry)
    }
    if entry.manner.contains(.deleted), entry.fields.contains(where: \.isSecret) {
      throw ReadingFlaw(.member, at: line, "secret-attributes")
    }
    return entry
  }

  private static func isProtected(
    _ document: JSONValue, _ line: UInt64
  ) throws(ReadingFlaw) -> Bool {
    if try isWord("protected", document["class"], of: ["standard"], "class", line) { return true }
    guard let protect = document["protect"] else { return false }
    guard case .boolean(let isTrue) = protect else {
      throw ReadingFlaw(.member, at: line, "protect")
    }
    return isTrue
  }

  /// Those that are taken, and what `kura get --json` tells beside them.
  private static let members: Set<String> = [
    "name", "value", "more", "attributes", "secret-attributes", "protect", "class", "kind",
    "created", "modified", "schema", "revision", "size",
  ]

  private static func take(
    _ document: JSONValue, _ name: String, isSecret: Bool, _ line: UInt64,
    _ entry: inout SourceEntry
  ) throws(ReadingFlaw) {
    guard let attributes = document[name] else { return }
    guard let members = attributes.members else { throw ReadingFlaw(.member, at: line, name) }
    for member in members {
      guard let value = content(member.value) else { throw ReadingFlaw(.member, at: line, name) }
      entry.fields.append(.init(key: member.key, value: value, isSecret: isSecret))
    }
  }

  /// A time, with its milliseconds; 0 where there is none.
  private static func time(
    _ member: JSONValue?, _ name: String, _ line: UInt64
  ) throws(ReadingFlaw) -> UInt64 {
    guard let member else { return 0 }
    let time = Timestamp.parse(member.text ?? [])
    guard time != 0 else { throw ReadingFlaw(.member, at: line, name) }
    return time
  }

  /// Whether a member is the one word; it must be that or one of the others.
  private static func isWord(
    _ word: String, _ member: JSONValue?, of others: [String], _ name: String, _ line: UInt64
  ) throws(ReadingFlaw) -> Bool {
    guard let member else { return false }
    let text = member.text.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard text == word || others.contains(text) else { throw ReadingFlaw(.member, at: line, name) }
    return text == word
  }

  /// A string's bytes, or those that an object has in base64.
  private static func content(_ value: JSONValue?) -> [UInt8]? {
    guard let value else { return nil }
    if let text = value.text { return text }
    guard let members = value.members, members.count == 1 else { return nil }
    return value["base64"]?.text.flatMap { Armour.decode($0) }
  }
}
