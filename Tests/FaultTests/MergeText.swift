// SPDX-License-Identifier: MIT

import KuraFormat

@testable import KuraVault

/// The lines of `Tests/reference/merge_cases.py`, read and written.
enum MergeText {
  // MARK: - Reading

  static func vector(_ text: Substring) -> RevisionVector {
    text == "-" ? RevisionVector() : RevisionVector(text.split(separator: ",").map(entry))
  }

  static func entry(_ text: Substring) -> RevisionEntry {
    let parts = text.split(separator: ":")
    return RevisionEntry(device: DeviceID(hexadecimal: parts[0])!, counter: UInt64(parts[1])!)
  }

  static func content(_ text: Substring) -> FieldContent {
    guard text != "-" else { return .nothing }
    let parts = text.split(separator: "+")
    let id = ContentID(hexadecimal: parts[0])!
    return parts.count == 1 ? .whole(id) : .code(seed: id, counter: UInt64(parts[1])!)
  }

  static func key(_ text: Substring) -> FieldKey {
    switch text {
    case "value": .value
    case "name": .name
    default: .attribute(attribute(text))
    }
  }

  /// A key of one letter, as two digits.
  private static func attribute(_ text: Substring) -> ContentID {
    ContentID(hexadecimal: text + String(repeating: "0", count: 30))!
  }

  static func state(_ text: Substring) -> RevisionState {
    text == "live" ? .live : text == "deleted" ? .deleted : .purged
  }

  static func stamped(_ text: Substring) -> StampedContent {
    let (stamp, content) = (text.prefix { $0 != "=" }, text.drop { $0 != "=" }.dropFirst())
    let parts = stamp.split(separator: ":")
    return StampedContent(
      stamp: RevisionStamp(
        id: RevisionID(hexadecimal: parts[0])!, depth: UInt64(parts[1])!,
        entry: entry(stamp.suffix(from: parts[2].startIndex))),
      content: self.content(content))
  }

  /// Of the words behind the first: id, depth, entry and vector.
  static func lineage(_ words: ArraySlice<Substring>) -> Lineage {
    let first = words.startIndex
    let stamp = RevisionStamp(
      id: RevisionID(hexadecimal: words[first])!, depth: UInt64(words[first + 1])!,
      entry: entry(words[first + 2]))
    return Lineage(stamp: stamp, following: vector(words[first + 3]))
  }

  static func revision(_ line: String) -> HeldRevision {
    let words = line.split(separator: " ")
    var fields: [FieldKey: [StampedContent]] = [:]
    for word in words[7...] {
      let name = word.prefix { $0 != "=" }
      let contents = word.suffix(from: name.endIndex).dropFirst().split(separator: ",")
      fields[key(name)] = contents.map(stamped)
    }
    return HeldRevision(
      lineage: lineage(words[1...]), state: state(words[5]),
      protection: words[6] == "protected" ? .protected : .standard, fields: fields)
  }

  // MARK: - Writing

  static func text(_ vector: RevisionVector) -> String {
    vector.entries.isEmpty ? "-" : vector.entries.map(text).joined(separator: ",")
  }

  static func text(_ entry: RevisionEntry) -> String {
    "\(entry.device.hexadecimal):\(entry.counter)"
  }

  static func text(_ content: FieldContent) -> String {
    switch content {
    case .nothing: "-"
    case .whole(let id): id.hexadecimal
    case .code(let seed, let counter): "\(seed.hexadecimal)+\(counter)"
    }
  }

  static func text(_ key: FieldKey) -> String {
    switch key {
    case .value: "value"
    case .name: "name"
    case .attribute(let id): String(id.hexadecimal.prefix(2))
    }
  }

  static func text(_ state: RevisionState) -> String {
    switch state {
    case .live: "live"
    case .deleted: "deleted"
    case .purged: "purged"
    }
  }

  static func text(_ protection: ProtectionClass) -> String {
    protection == .protected ? "protected" : "standard"
  }

  static func text(_ contents: [StampedContent]) -> String {
    contents.map {
      "\($0.stamp.id.hexadecimal):\($0.stamp.depth):\(text($0.stamp.entry))=\(text($0.content))"
    }.joined(separator: ",")
  }

  static func text(_ revision: HeldRevision) -> String {
    let fields = revision.fields.sorted { $0.key < $1.key }
      .map { "\(text($0.key))=\(text($0.value))" }
    let stamp = revision.stamp
    return
      ([
        "revision", stamp.id.hexadecimal, "\(stamp.depth)", text(stamp.entry),
        text(revision.lineage.vector), text(revision.state), text(revision.protection),
      ] + fields).joined(separator: " ")
  }

  static func lines(_ history: ItemHistory) -> [String] {
    ["history \(text(history.purged))"] + history.revisions.map(text)
  }

  /// The ids, each with a space before it.
  static func ids(_ revisions: [some Revised]) -> String {
    revisions.map { " " + $0.lineage.stamp.id.hexadecimal }.joined()
  }

  static func view(_ history: ItemHistory) -> [String] {
    let standing = history.standing
    var lines = ["view \(text(standing.state)) \(text(standing.protection))\(ids(history.sides))"]
    for (key, field) in standing.fields.sorted(by: { $0.key < $1.key }) {
      let conflicts = field.conflicts.map { text($0.content) }.sorted().joined(separator: ",")
      lines.append(
        "shown \(text(key)) \(text(field.shown.content)) \(text(field.contents))"
          + " \(conflicts.isEmpty ? "settled" : conflicts)")
    }
    return lines + standing.against.map(text).sorted().map { "against \($0)" }
  }
}
