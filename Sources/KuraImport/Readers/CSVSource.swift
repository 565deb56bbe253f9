// SPDX-License-Identifier: MIT

/// Turns the records of a CSV export into entries, by the names in its first line.
struct CSVSource {
  private let dialect: CSVDialect
  private var reader: CSVReader
  /// What each column is; nil for one that the dialect does not know.
  private var roles: [CSVDialect.Role?] = []
  private var names: [[UInt8]] = []
  /// Columns of use to that program alone that had something in them.
  private var foreign: Set<Int> = []

  init(_ bytes: [UInt8], _ dialect: CSVDialect) {
    reader = CSVReader(bytes)
    self.dialect = dialect
  }

  /// Reads all of it.
  mutating func read(_ sink: inout EntrySink) throws(ReadingFlaw) {
    guard let head = try reader.next() else { throw ReadingFlaw(.empty) }
    try take(head)
    while let record = try reader.next() {
      guard record.count == names.count else { throw ReadingFlaw(.fieldCount, at: reader.place) }
      try sink.take(entry(record))
    }
    for index in foreign.sorted() { sink.take(Remark(reason: .foreign, field: names[index])) }
  }

  private mutating func take(_ head: [[UInt8]]) throws(ReadingFlaw) {
    names = head
    roles = head.map { name in
      dialect.columns.first { Self.isSame(name, $0.name) }?.role
    }
    for column in dialect.columns {
      let count = head.filter { Self.isSame($0, column.name) }.count
      if count > 1 { throw ReadingFlaw(.columnTwice, at: 1, column.name) }
      if count == 0, column.isNeeded { throw ReadingFlaw(.columnMissing, at: 1, column.name) }
    }
  }

  /// Whether a name is that one, but for capital letters.
  private static func isSame(_ bytes: [UInt8], _ name: String) -> Bool {
    bytes.count == name.utf8.count
      && zip(bytes, name.utf8).allSatisfy { ($0 | 0x20) == ($1 | 0x20) }
  }

  private mutating func entry(_ record: [[UInt8]]) -> SourceEntry {
    var entry = SourceEntry()
    entry.place = reader.place
    for (index, text) in record.enumerated() { take(text, index, into: &entry) }
    if !dialect.noteURL.isEmpty, entry.urls == [dialect.noteURL] { entry.urls = [] }
    if entry.value?.isEmpty == true { entry.value = nil }
    return entry
  }

  private mutating func take(_ text: [UInt8], _ index: Int, into entry: inout SourceEntry) {
    if text.isEmpty { return }
    switch roles[index] {
    case .title: entry.title = text
    case .user: entry.user = text
    case .value: entry.value = text
    case .url: entry.urls.append(text)
    case .notes: entry.notes = text
    case .seed: entry.seed = text
    case .folders(let separator): entry.folders = folders(text, separator)
    case .createdMilliseconds: entry.created = Timestamp.milliseconds(text)
    case .modifiedMilliseconds: entry.modified = Timestamp.milliseconds(text)
    case .createdText: entry.created = Timestamp.parse(text)
    case .modifiedText: entry.modified = Timestamp.parse(text)
    case .attribute(let key):
      entry.fields.append(.init(key: Array(key.utf8), value: text, isSecret: false))
    case .foreign: foreign.insert(index)
    case nil: entry.fields.append(.init(key: names[index], value: text, isSecret: true))
    }
  }

  private func folders(_ text: [UInt8], _ separator: UInt8) -> [[UInt8]] {
    let folders = text.split(separator: separator).map { Array($0) }
    return dialect.hasRoot ? Array(folders.dropFirst()) : folders
  }
}
