// SPDX-License-Identifier: MIT

/// Reads what the confined process wrote, as a stranger's: it has parsed what a stranger wrote.
struct AnswerReader {
  /// Holds all that was read of a source.
  struct Answer: Equatable, Sendable {
    var entries: [SourceEntry] = []
    var remarks: [Remark] = []
  }

  /// Says that the answer is none.
  struct Nonsense: Error, Equatable {}

  /// Says how an answer ends.
  enum Outcome: Equatable, Sendable {
    case whole(Answer)
    case flaw(ReadingFlaw)
  }

  /// The most entries that are taken.
  static let mostEntries = 200_000
  /// The longest name of a field, and the longest word, in bytes.
  private static let longestKey = 4_096

  private let bytes: [UInt8]
  private var offset: Int
  private let end: Int

  private init(_ bytes: [UInt8], from offset: Int = 0, to end: Int) {
    (self.bytes, self.offset, self.end) = (bytes, offset, end)
  }

  /// Reads an answer from its first byte to its last.
  static func read(_ bytes: [UInt8]) throws(Nonsense) -> Outcome {
    var reader = AnswerReader(bytes, to: bytes.count)
    var answer = Answer()
    while true {
      let part = AnswerWriter.Part(rawValue: try reader.byte())
      var content = try reader.part()
      switch part {
      case .entry:
        guard answer.entries.count < mostEntries else { throw Nonsense() }
        answer.entries.append(try content.entry())
      case .remark: answer.remarks.append(try content.remark())
      case .flaw:
        let flaw = try content.flaw()
        guard reader.isDone else { throw Nonsense() }
        return .flaw(flaw)
      case .end:
        guard content.isDone, reader.isDone else { throw Nonsense() }
        return .whole(answer)
      case nil: throw Nonsense()
      }
    }
  }

  private var isDone: Bool { offset == end }

  private mutating func byte() throws(Nonsense) -> UInt8 {
    guard offset < end else { throw Nonsense() }
    offset += 1
    return bytes[offset - 1]
  }

  private mutating func number(_ width: Int) throws(Nonsense) -> UInt64 {
    guard end - offset >= width else { throw Nonsense() }
    var number: UInt64 = 0
    for index in 0..<width { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    offset += width
    return number
  }

  private mutating func take(_ count: UInt64) throws(Nonsense) -> [UInt8] {
    guard count <= UInt64(end - offset) else { throw Nonsense() }
    let start = offset
    offset += Int(count)
    return Array(bytes[start..<offset])
  }

  private mutating func rest() -> [UInt8] {
    let start = offset
    offset = end
    return Array(bytes[start..<end])
  }

  /// A part with its length in front of it.
  private mutating func part() throws(Nonsense) -> AnswerReader {
    let count = try number(4)
    guard count <= UInt64(end - offset) else { throw Nonsense() }
    let start = offset
    offset += Int(count)
    return AnswerReader(bytes, from: start, to: offset)
  }

  private mutating func remark() throws(Nonsense) -> Remark {
    guard let reason = Remark.Reason(rawValue: try byte()), end - offset <= Self.longestKey else {
      throw Nonsense()
    }
    return Remark(reason: reason, field: rest())
  }

  private mutating func flaw() throws(Nonsense) -> ReadingFlaw {
    guard let rule = ReadingFlaw.Rule(rawValue: try byte()) else { throw Nonsense() }
    let place = try number(8)
    // It is shown: nothing of the source can stand in it.
    guard end - offset <= 64, bytes[offset..<end].allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      throw Nonsense()
    }
    return ReadingFlaw(rule, at: place, String(decoding: rest(), as: UTF8.self))
  }

  private mutating func entry() throws(Nonsense) -> SourceEntry {
    var entry = SourceEntry()
    while !isDone {
      guard let tag = AnswerWriter.Tag(rawValue: try byte()) else { throw Nonsense() }
      var content = try part()
      try content.read(tag, into: &entry)
      guard content.isDone else { throw Nonsense() }
    }
    return entry
  }

  private mutating func read(
    _ tag: AnswerWriter.Tag, into entry: inout SourceEntry
  ) throws(Nonsense) {
    switch tag {
    case .place: entry.place = try number(8)
    case .folder: entry.folders.append(rest())
    case .title: entry.title = rest()
    case .user: entry.user = rest()
    case .value: entry.value = rest()
    case .url: entry.urls.append(rest())
    case .notes: entry.notes = rest()
    case .field: entry.fields.append(try field(isSecret: false))
    case .secretField: entry.fields.append(try field(isSecret: true))
    case .seed: entry.seed = rest()
    case .attachment:
      let field = try field(isSecret: true)
      entry.attachments.append(.init(name: field.key, bytes: field.value))
    case .created: entry.created = try number(8)
    case .modified: entry.modified = try number(8)
    case .tag: entry.tags.append(rest())
    case .earlier: entry.history.append(rest())
    case .left: entry.left.append(try remark())
    case .manner:
      let manner = SourceEntry.Manner(rawValue: try byte())
      guard manner.isSubset(of: .all) else { throw Nonsense() }
      entry.manner = manner
    }
  }

  private mutating func field(isSecret: Bool) throws(Nonsense) -> SourceEntry.Field {
    let count = try number(4)
    guard count <= UInt64(Self.longestKey) else { throw Nonsense() }
    let key = try take(count)
    return SourceEntry.Field(key: key, value: rest(), isSecret: isSecret)
  }
}
