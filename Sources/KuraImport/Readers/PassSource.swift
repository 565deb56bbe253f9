// SPDX-License-Identifier: MIT

/// Reads the entries of a store of pass's, as ``StoreText`` has gathered them: each is the text of a file, its first
/// line a password, the lines below it fields as far as they are `key: value`, the rest notes.
enum PassSource {
  /// Reads all of it.
  static func read(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    var place: UInt64 = 0
    var offset = 0
    while offset < bytes.count {
      place += 1
      let text = try StoreText.next(in: bytes, &offset, place)
      try sink.take(entry(text, place))
    }
    if place == 0 { throw ReadingFlaw(.empty) }
  }

  private static func entry(_ text: StoreText, _ place: UInt64) -> SourceEntry {
    var entry = SourceEntry()
    entry.place = place
    var parts = text.path.split(separator: UInt8(ascii: "/")).map { Array($0) }
    entry.title = parts.popLast() ?? []
    entry.folders = parts
    switch text.state {
    case .read: break
    case .sealed: return unread(entry, .sealed)
    case .link: return unread(entry, .link)
    case .foreign: return unread(entry, .unsupported)
    }
    let isFile = parts.last == Array("attachments".utf8) && parts.count > 1
    guard !isFile, String(validating: text.content, as: UTF8.self) != nil,
      !text.content.starts(with: Array("-----BEGIN ".utf8))
    else {
      entry.value = text.content
      return entry
    }
    fill(&entry, text.content)
    return entry
  }

  private static func unread(_ entry: SourceEntry, _ reason: Remark.Reason) -> SourceEntry {
    var entry = entry
    entry.manner = .unread
    entry.left = [Remark(reason: reason, field: [])]
    return entry
  }

  private static func fill(_ entry: inout SourceEntry, _ content: [UInt8]) {
    var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let first = lines.isEmpty ? [] : Array(text(of: lines.removeFirst()))
    if isURI(first) {
      entry.seed = first
    } else if !first.isEmpty || lines.allSatisfy({ text(of: $0).isEmpty }) {
      entry.value = first
    }
    var notes: [ArraySlice<UInt8>] = []
    for line in lines {
      let text = text(of: line)
      if entry.seed.isEmpty, isURI(Array(text)) {
        entry.seed = Array(text)
      } else if notes.isEmpty, let field = field(text) {
        take(field.key, field.value, &entry)
      } else {
        notes.append(line)
      }
    }
    while let last = notes.last, text(of: last).isEmpty { notes.removeLast() }
    if !notes.isEmpty {
      entry.notes = Array(notes.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    }
  }

  /// A line without the CR that an editor may have put at its end.
  private static func text(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  private static func isURI(_ line: [UInt8]) -> Bool {
    line.starts(with: Array("otpauth://".utf8))
  }

  /// A line of `key: value`; nil for any other.
  private static func field(
    _ line: ArraySlice<UInt8>
  ) -> (key: [UInt8], value: [UInt8])? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      colon + 1 < line.endIndex, line[colon + 1] == UInt8(ascii: " ")
    else { return nil }
    let value = line[(colon + 2)...]
    guard !value.isEmpty else { return nil }
    return (Array(line[..<colon]), Array(value))
  }

  private static func take(_ key: [UInt8], _ value: [UInt8], _ entry: inout SourceEntry) {
    switch String(decoding: key, as: UTF8.self).lowercased() {
    case "user", "username", "login":
      if entry.user.isEmpty { return entry.user = value }
    case "url", "website": return entry.urls.append(value)
    default: break
    }
    // What else stands in a store was encrypted there.
    entry.fields.append(.init(key: key, value: value, isSecret: true))
  }
}
