// SPDX-License-Identifier: MIT

/// Reads what kura-desktop writes of the desktop's keeper of secrets, as kura-desktop(1) describes it.
struct KeeperSource {
  /// What it begins with.
  static let head = Array("kura-secrets 1\n".utf8)

  private let bytes: [UInt8]
  private var offset = head.count
  private var place: UInt64 = 0
  private var isAnyRead = false

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads all of it.
  static func read(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    guard bytes.starts(with: head) else { throw ReadingFlaw(.frame) }
    var source = KeeperSource(bytes)
    while try source.readRecord(&sink) {}
    guard source.offset == bytes.count else { throw source.flaw }
    if source.place == 1 { throw ReadingFlaw(.empty) }
    guard source.isAnyRead else { throw ReadingFlaw(.allLocked) }
  }

  private var flaw: ReadingFlaw { ReadingFlaw(.frame, at: place) }

  /// Reads the next record; whether there is one behind it.
  private mutating func readRecord(_ sink: inout EntrySink) throws(ReadingFlaw) -> Bool {
    place += 1
    switch try number(1) {
    case 1: try sink.take(try item())
    case 2:
      sink.take(Remark(reason: .locked, field: Array("collection ".utf8) + (try counted())))
    case 3:
      var entry = SourceEntry()
      entry.place = place
      entry.folders = [try counted()]
      entry.title = try counted()
      entry.manner = .unread
      entry.left = [Remark(reason: .locked, field: [])]
      try sink.take(entry)
    case 4:
      guard try number(4) == place - 1 else { throw flaw }
      return false
    default: throw flaw
    }
    return true
  }

  private mutating func item() throws(ReadingFlaw) -> SourceEntry {
    isAnyRead = true
    var entry = SourceEntry()
    entry.place = place
    entry.folders = [try counted()]
    entry.title = try counted()
    entry.created = try milliseconds()
    entry.modified = try milliseconds()
    var attributes: [(key: [UInt8], value: [UInt8])] = []
    for _ in 0..<(try number(4)) { attributes.append((try counted(), try counted())) }
    let type = try counted()
    entry.value = try counted()
    Self.take(attributes, &entry)
    if !type.isEmpty, !type.starts(with: Array("text/".utf8)) {
      entry.fields.append(.init(key: Array("content-type".utf8), value: type, isSecret: false))
    }
    return entry
  }

  // MARK: - Attributes

  private static func take(
    _ attributes: [(key: [UInt8], value: [UInt8])], _ entry: inout SourceEntry
  ) {
    if takeOfKeePassXC(attributes, &entry) { return }
    func first(_ names: [String]) -> [UInt8] {
      for name in names {
        for (key, value) in attributes where key.elementsEqual(name.utf8) && !value.isEmpty {
          return value
        }
      }
      return []
    }
    entry.user = first(["user", "username", "username_value", "login", "account"])
    let url = first(["url", "uri", "origin_url", "signon_realm"])
    let address =
      url.isEmpty ? address(first(["protocol"]), first(["server"]), first(["port"])) : url
    if !address.isEmpty { entry.urls = [address] }
    // Those two are there already, under these names.
    for (key, value) in attributes where key != Array("user".utf8) && key != Array("url".utf8) {
      entry.fields.append(.init(key: key, value: value, isSecret: false))
    }
  }

  /// Takes what KeePassXC shows of an entry: its fields under their names, and beside them the others, of which nobody can
  /// tell which are protected, the seed of its codes among them.
  ///
  /// - Returns: Whether it is one of KeePassXC's.
  private static func takeOfKeePassXC(
    _ attributes: [(key: [UInt8], value: [UInt8])], _ entry: inout SourceEntry
  ) -> Bool {
    let keys = attributes.map { $0.key }
    guard ["Uuid", "Path", "Title"].allSatisfy({ keys.contains(Array($0.utf8)) }) else {
      return false
    }
    for (key, value) in attributes where !value.isEmpty {
      switch String(decoding: key, as: UTF8.self) {
      // The title is the label; a code is of this moment.
      case "Title", "TOTP": break
      case "UserName": entry.user = value
      case "URL": entry.urls = [value]
      case "Notes": entry.notes = value
      case "otp": entry.seed = value
      case "Path":
        let slash = UInt8(ascii: "/")
        let title = [slash] + entry.title
        guard value.suffix(title.count).elementsEqual(title) else { continue }
        entry.folders += value.dropLast(title.count).split(separator: slash).map { Array($0) }
      case "Uuid": entry.fields.append(.init(key: key, value: value, isSecret: false))
      default: entry.fields.append(.init(key: key, value: value, isSecret: true))
      }
    }
    return true
  }

  /// Where a server is; empty where that is not known.
  private static func address(
    _ scheme: [UInt8], _ server: [UInt8], _ port: [UInt8]
  ) -> [UInt8] {
    guard !server.isEmpty else { return [] }
    let head = scheme.isEmpty ? [] : scheme + Array("://".utf8)
    return head + server
      + (port.isEmpty || port == [UInt8(ascii: "0")] ? [] : [UInt8(ascii: ":")] + port)
  }

  // MARK: - Numbers and texts

  private mutating func number(_ width: Int) throws(ReadingFlaw) -> UInt64 {
    guard bytes.count - offset >= width else { throw flaw }
    var number: UInt64 = 0
    for index in 0..<width { number |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    offset += width
    return number
  }

  private mutating func milliseconds() throws(ReadingFlaw) -> UInt64 {
    let seconds = try number(8)
    return seconds < 1 << 40 ? seconds * 1_000 : 0
  }

  private mutating func counted() throws(ReadingFlaw) -> [UInt8] {
    let count = Int(try number(4))
    guard bytes.count - offset >= count else { throw flaw }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }
}
