// SPDX-License-Identifier: MIT

/// Writes what was read for the process that talks to the agent: tag, length in four bytes, content, again and again.
struct AnswerWriter {
  /// Says what a part of the answer is.
  enum Part: UInt8, Sendable {
    case entry = 1
    /// What is not taken of the whole source.
    case remark = 2
    case flaw = 3
    /// Nothing comes behind it: all was read.
    case end = 4
  }

  /// Says what a field of an entry is.
  enum Tag: UInt8, Sendable {
    case place = 1
    case folder = 2
    case title = 3
    case user = 4
    case value = 5
    case url = 6
    case notes = 7
    case field = 8
    case secretField = 9
    case seed = 10
    case attachment = 11
    case created = 12
    case modified = 13
    case tag = 14
    case earlier = 15
    case left = 16
    case manner = 17
  }

  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes an entry.
  mutating func put(_ entry: SourceEntry) {
    let start = open(.entry)
    if entry.place != 0 { put(.place, entry.place) }
    for folder in entry.folders { put(.folder, folder) }
    if !entry.title.isEmpty { put(.title, entry.title) }
    if !entry.user.isEmpty { put(.user, entry.user) }
    if let value = entry.value { put(.value, value) }
    for url in entry.urls { put(.url, url) }
    if !entry.notes.isEmpty { put(.notes, entry.notes) }
    for field in entry.fields {
      put(field.isSecret ? .secretField : .field, field.key, field.value)
    }
    if !entry.seed.isEmpty { put(.seed, entry.seed) }
    for attachment in entry.attachments { put(.attachment, attachment.name, attachment.bytes) }
    if entry.created != 0 { put(.created, entry.created) }
    if entry.modified != 0 { put(.modified, entry.modified) }
    for tag in entry.tags { put(.tag, tag) }
    for earlier in entry.history { put(.earlier, earlier) }
    for remark in entry.left { put(.left, [remark.reason.rawValue] + remark.field) }
    if entry.manner != [] { put(.manner, [entry.manner.rawValue]) }
    close(start)
  }

  /// Writes what is not taken of the whole source.
  mutating func put(_ remark: Remark) {
    let start = open(.remark)
    bytes.append(remark.reason.rawValue)
    bytes += remark.field
    close(start)
  }

  /// Writes why it cannot be read.
  mutating func put(_ flaw: ReadingFlaw) {
    let start = open(.flaw)
    bytes.append(flaw.rule.rawValue)
    append(flaw.place)
    bytes += Array(flaw.word.utf8)
    close(start)
  }

  /// Writes that all was read.
  mutating func putEnd() { close(open(.end)) }

  private mutating func open(_ part: Part) -> Int {
    bytes.append(part.rawValue)
    bytes += [0, 0, 0, 0]
    return bytes.count
  }

  private mutating func close(_ start: Int) {
    for index in 0..<4 {
      bytes[start - 4 + index] = UInt8((bytes.count - start) >> (8 * index) & 0xFF)
    }
  }

  private mutating func put(_ tag: Tag, _ content: [UInt8]) {
    bytes.append(tag.rawValue)
    append(UInt32(content.count))
    bytes += content
  }

  private mutating func put(_ tag: Tag, _ number: UInt64) {
    bytes.append(tag.rawValue)
    append(UInt32(8))
    append(number)
  }

  /// Writes a key, its length in front of it, and what belongs to it.
  private mutating func put(_ tag: Tag, _ key: [UInt8], _ content: [UInt8]) {
    bytes.append(tag.rawValue)
    append(UInt32(4 + key.count + content.count))
    append(UInt32(key.count))
    bytes += key
    bytes += content
  }

  private mutating func append(_ number: some FixedWidthInteger & UnsignedInteger) {
    for index in 0..<(number.bitWidth / 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index)))
    }
  }
}
