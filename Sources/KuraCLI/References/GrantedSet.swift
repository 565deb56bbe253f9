// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Remembers in the vault what a command of a directory was granted together, so that its owner is told what is new.
///
/// Who may write to the vault can write there, and gains a word in a question by it: all names stand in that, and it
/// takes the passcode all the same.
struct GrantedSet {
  private static let folder = "kura-run"
  /// How many commands are remembered of a directory, and in how many bytes each: an item has room for no more.
  private static let most = 16
  private static let longest = 3_000

  /// The name of the item.
  private let name: String
  /// The words of the command; they may have secrets.
  private let words: [[UInt8]]
  private var isThere = false
  /// The attribute that this set has, or is to have.
  private var place = 1
  private var past: PastSet?
  private var marks: [Mark] = []

  /// Nil where no item can have the name of the working directory.
  init?(of words: [[UInt8]]) {
    guard let path = try? System.currentDirectory(), path.count <= 1_000,
      let directory = String(validating: path, as: UTF8.self), directory.utf8.count > 1
    else { return nil }
    name = Self.folder + directory
    self.words = words
  }

  /// Says how an item stands to what was agreed to.
  enum Mark: Equatable {
    case same
    case new
    case another
    case changed(UInt64)
    case renamed(from: String, changed: UInt64?)
  }

  /// Looks up what was agreed to.
  mutating func compare(
    _ items: [Item], _ connection: inout Connection
  ) throws(ClientError) {
    // What cannot be read is new.
    guard let record = try connection.item(name) else { return }
    isThere = true
    choosePlace(in: record)
    marks = []
    for item in items { marks.append(try mark(of: item, &connection)) }
  }

  private mutating func choosePlace(in record: Item) {
    var oldest = UInt64.max
    for place in 1...Self.most {
      let text = record.attributes.first { $0.key == "\(place)" }?.value
      guard let text, let set = PastSet(text) else {
        if oldest > 0 { (oldest, self.place) = (0, place) }
        continue
      }
      if set.digest == CommandDigest(words, low: set.digest.low, high: set.digest.high) {
        (self.place, past) = (place, set)
        return
      }
      if set.time < oldest { (oldest, self.place) = (set.time, place) }
    }
  }

  private func mark(
    of item: Item, _ connection: inout Connection
  ) throws(ClientError) -> Mark {
    guard let past else { return .new }
    let facts = item.facts
    let known = past.entries.first { $0.name == item.name }
    if let known, known.created == facts.created {
      return known.revision == facts.revision ? .same : .changed(facts.modified)
    }
    for entry in past.entries where entry.created == facts.created && entry.name != item.name {
      // Many may have been made at once: it is the one of that name only where nothing else is.
      guard try connection.item(entry.name)?.facts.created != facts.created else { continue }
      let isChanged = entry.revision != facts.revision
      return .renamed(from: entry.name, changed: isChanged ? facts.modified : nil)
    }
    return known == nil ? .new : .another
  }

  /// Keeps it, in place of what was agreed to before.
  func keep(_ items: [Item], _ connection: inout Connection) throws(CommandError) {
    let digest = if let past { past.digest } else { try CommandDigest(words) }
    let text = PastSet(digest, Clock.unix(), items).text
    guard text.count <= Self.longest else {
      throw .failure("the names are too long together", hint: "grant them in parts")
    }
    let attribute = Attribute(key: "\(place)", value: text)
    try running { () throws(ClientError) in
      if isThere {
        _ = try connection.setAttributes(of: name, set: [attribute], delete: [])
      } else {
        _ = try connection.put(
          PutOrder(name: name, attributes: [attribute]), value: name.utf8.span)
      }
    }
  }
}

// MARK: - Words

extension GrantedSet {
  /// How all of it stands to what was agreed to.
  func head(now: UInt64) -> String {
    guard let past else { return "all is new to this command here" }
    let time = Moment.recent(past.time, now: now)
    let count = marks.reduce(0) { $0 + ($1 == .same ? 0 : 1) }
    let subject =
      count == 0 ? "all is" : count == 1 ? "one of them is not" : "\(count) of them are not"
    return subject + " as you agreed to at " + time
  }

  /// The same and each item that is not so, as a program can say it of itself; as much as there is room for.
  func claim(_ items: [Item], behind reason: [UInt8], now: UInt64) -> [UInt8] {
    var text = (reason.isEmpty ? [] : reason + Array("; ".utf8)) + Array(head(now: now).utf8)
    guard text.count <= ProtocolLimit.reason else { return reason }
    var between = ": "
    for (index, item) in items.enumerated() {
      let words = words(index, now: now)
      guard !words.utf8.isEmpty else { continue }
      let more = Array((between + words + item.name).utf8)
      guard text.count + more.count <= ProtocolLimit.reason else { break }
      text += more
      between = ", "
    }
    return text
  }

  /// What stands before the name of an item.
  func words(_ index: Int, now: UInt64) -> String {
    guard past != nil, index < marks.count else { return "" }
    switch marks[index] {
    case .same: return ""
    case .new: return "new: "
    case .another: return "another item than then: "
    case .changed(let time): return "changed " + Moment.recent(time, now: now) + ": "
    case .renamed(let name, let changed):
      let time = changed.map { ", changed " + Moment.recent($0, now: now) } ?? ""
      return "renamed from " + Diagnostic.plain(Array(name.utf8)) + time + ": "
    }
  }
}

extension Connection {
  /// An item; nil where there is none, or none to be shown here.
  fileprivate mutating func item(_ name: String) throws(ClientError) -> Item? {
    do throws(ClientError) { return try show(name).item } catch {
      guard case .refused = error else { throw error }
      return nil
    }
  }
}

// MARK: - What is kept

/// Stands for the words of a command, under a key by chance.
struct CommandDigest: Equatable {
  let low: UInt64
  let high: UInt64
  fileprivate let tag: ValueMark.Tag

  fileprivate init(low: UInt64, high: UInt64, _ tag: ValueMark.Tag) {
    (self.low, self.high, self.tag) = (low, high, tag)
  }

  init(_ words: [[UInt8]], low: UInt64, high: UInt64) {
    var mark = ValueMark(low: low, high: high)
    for word in words {
      mark.take(word.span)
      mark.take([0].span)
    }
    self.init(low: low, high: high, mark.tag())
  }

  init(_ words: [[UInt8]]) throws(CommandError) {
    let (low, high) = try ValueMark.key()
    self.init(words, low: low, high: high)
  }
}

/// Is what a command was granted together, as it stands in the vault: numbers and names in lines.
struct PastSet {
  /// Tells of an item what it is known by later.
  struct Entry: Equatable {
    let name: String
    let created: UInt64
    let revision: UInt64
  }

  let digest: CommandDigest
  /// When it was agreed to, in ms of Unix time.
  let time: UInt64
  let entries: [Entry]

  init(_ digest: CommandDigest, _ time: UInt64, _ items: [Item]) {
    (self.digest, self.time) = (digest, time)
    entries = items.map {
      Entry(name: $0.name, created: $0.facts.created, revision: $0.facts.revision)
    }
  }

  /// Nil for what is no such text.
  init?(_ text: [UInt8]) {
    var lines = text.split(separator: 0x0A)
    guard !lines.isEmpty, let head = Self.numbers(lines.removeFirst(), 5), head.rest.isEmpty else {
      return nil
    }
    var entries: [Entry] = []
    for line in lines {
      guard let (numbers, rest) = Self.numbers(line, 2),
        let name = String(validating: rest, as: UTF8.self)
      else { return nil }
      entries.append(Entry(name: name, created: numbers[0], revision: numbers[1]))
    }
    time = head.numbers[0]
    digest = CommandDigest(
      low: head.numbers[1], high: head.numbers[2],
      ValueMark.Tag(low: head.numbers[3], high: head.numbers[4]))
    self.entries = entries
  }

  /// Reads numbers with a blank behind each.
  private static func numbers(
    _ line: ArraySlice<UInt8>, _ count: Int
  ) -> (numbers: [UInt64], rest: ArraySlice<UInt8>)? {
    var (numbers, rest): ([UInt64], ArraySlice<UInt8>) = ([], line)
    for _ in 0..<count {
      guard let end = rest.firstIndex(of: 0x20), let number = Decimal.parse(rest[..<end]) else {
        return nil
      }
      numbers.append(number)
      rest = rest[(end + 1)...]
    }
    return (numbers, rest)
  }

  var text: [UInt8] {
    let tag = digest.tag
    var text = "\(time) \(digest.low) \(digest.high) \(tag.low) \(tag.high) \n"
    for entry in entries { text += "\(entry.created) \(entry.revision) " + entry.name + "\n" }
    return Array(text.utf8)
  }
}
