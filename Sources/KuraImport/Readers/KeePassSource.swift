// SPDX-License-Identifier: MIT

/// Turns the XML of KeePass 2 and KeePassXC into entries.
struct KeePassSource {
  /// Files by their number, as the document keeps them in one place.
  private var files: [String: [UInt8]] = [:]
  private var bin: [UInt8] = []
  private var place: UInt64 = 0
  /// What only KeePass and its like have a use for, and many an entry has: it is said once.
  private var looks: Set<String> = []

  /// Reads all of it.
  static func read(_ bytes: [UInt8], _ sink: inout EntrySink) throws(ReadingFlaw) {
    let document = try XMLReader.read(bytes)
    guard document.name == "KeePassFile", let root = document["Root"] else {
      throw ReadingFlaw(.member, at: document.line, "KeePassFile")
    }
    var source = KeePassSource()
    if let meta = document["Meta"] { try source.take(meta) }
    // The outermost group is the database.
    for group in root.all("Group") { try source.read(group, [], isTrashed: false, &sink) }
    for field in KeePassRest.ofDatabase(document["Meta"]) { sink.take(field) }
    for look in source.looks.sorted() {
      sink.take(Remark(reason: .foreign, field: Array(look.utf8)))
    }
  }

  private mutating func take(_ meta: XMLNode) throws(ReadingFlaw) {
    bin = meta["RecycleBinUUID"]?.text ?? []
    for file in meta["Binaries"]?.all("Binary") ?? [] {
      guard let number = file.attributes["ID"] else { continue }
      files[number] = try content(file)
    }
  }

  /// A file's bytes, unpacked.
  private func content(_ file: XMLNode) throws(ReadingFlaw) -> [UInt8] {
    if file.attributes["Protected"] == "True" { throw ReadingFlaw(.encrypted, at: file.line) }
    guard let bytes = Armour.decode(file.text.filter { $0 > 0x20 }) else {
      throw ReadingFlaw(.member, at: file.line, "Binary")
    }
    guard file.attributes["Compressed"] == "True" else { return bytes }
    guard let plain = Inflation.inflate(bytes, .gzip, limit: Self.longestFile) else {
      throw ReadingFlaw(.packing, at: file.line)
    }
    return plain
  }

  /// The most bytes that a file unpacks to.
  static let longestFile = ImportedItem.longest

  private mutating func read(
    _ group: XMLNode, _ folders: [[UInt8]], isTrashed: Bool, _ sink: inout EntrySink
  ) throws(ReadingFlaw) {
    for rest in KeePassRest.ofGroup(group) { sink.take(rest) }
    looks.formUnion(KeePassRest.looks(of: group))
    for node in group.all("Entry") {
      var entry = try entry(node)
      entry.folders = folders
      if isTrashed { entry.manner.insert(.trashed) }
      try sink.take(entry)
    }
    for inner in group.all("Group") {
      let isBin = !bin.isEmpty && inner["UUID"]?.text == bin && bin != Self.noBin
      try read(
        inner, folders + [inner["Name"]?.text ?? []], isTrashed: isTrashed || isBin, &sink)
    }
  }

  /// Sixteen bytes of zeros.
  private static let noBin = Array("AAAAAAAAAAAAAAAAAAAAAA==".utf8)

  private mutating func entry(_ node: XMLNode) throws(ReadingFlaw) -> SourceEntry {
    place += 1
    var entry = SourceEntry()
    entry.place = place
    let times = node["Times"]
    entry.created = Self.time(times?["CreationTime"])
    entry.modified = Self.time(times?["LastModificationTime"])
    if times?["Expires"]?.text == Array("True".utf8) {
      let end = Timestamp.moment(Self.time(times?["ExpiryTime"]) / 1_000)
      entry.fields.append(.init(key: Array("expires".utf8), value: end, isSecret: false))
    }
    entry.tags = (node["Tags"]?.text ?? []).split {
      $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",")
    }
    .map { Array($0) }
    var codes = KeePassCodes()
    for string in node.all("String") { try take(string, &entry, &codes) }
    codes.hand(to: &entry)
    for file in node.all("Binary") { try attach(file, &entry) }
    entry.history = try history(node)
    KeePassRest.take(node, &entry)
    looks.formUnion(KeePassRest.looks(of: node))
    return entry
  }

  /// A time in milliseconds since 1970; 0 where it is none. What KeePassXC exports of a database of KDBX 4 has them as
  /// seconds since the year 1, eight bytes, the least first.
  private static func time(_ node: XMLNode?) -> UInt64 {
    let text = node?.text ?? []
    guard text.count == 12, let bytes = Armour.decode(text), bytes.count == 8 else {
      return Timestamp.parse(text)
    }
    let seconds = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard seconds >= yearOne, seconds - yearOne < 1 << 40 else { return 0 }
    return (seconds - yearOne) * 1_000
  }

  /// Seconds from there to 1970.
  private static let yearOne: UInt64 = 62_135_596_800

  /// The earlier passwords, each once.
  private func history(_ node: XMLNode) throws(ReadingFlaw) -> [[UInt8]] {
    var earlier: [[UInt8]] = []
    for old in node["History"]?.all("Entry") ?? [] {
      let password = old.all("String").first { $0["Key"]?.text == Array("Password".utf8) }
      guard let value = password?["Value"]?.text, !value.isEmpty, earlier.last != value else {
        continue
      }
      earlier.append(value)
    }
    let current = node.all("String").first { $0["Key"]?.text == Array("Password".utf8) }
    if let last = earlier.last, last == current?["Value"]?.text { earlier.removeLast() }
    return earlier
  }

  private func take(
    _ string: XMLNode, _ entry: inout SourceEntry, _ codes: inout KeePassCodes
  ) throws(ReadingFlaw) {
    guard let key = string["Key"]?.text, let node = string["Value"] else {
      throw ReadingFlaw(.member, at: string.line, "String")
    }
    // As it stands in the database, and not in an export.
    if node.attributes["Protected"] == "True" { throw ReadingFlaw(.encrypted, at: node.line) }
    let value = node.text
    switch String(decoding: key, as: UTF8.self) {
    case "Title": entry.title = value
    case "UserName": entry.user = value
    case "Password": entry.value = value.isEmpty ? nil : value
    case "URL": entry.urls += value.isEmpty ? [] : [value]
    case "Notes": entry.notes = value
    case let name where name.hasPrefix("KP2A_URL"): entry.urls += value.isEmpty ? [] : [value]
    case let name where name.hasPrefix("KPEX_PASSKEY"):
      let passkey = Remark(reason: .unsupported, field: Array("passkey".utf8))
      if !entry.left.contains(passkey) { entry.left.append(passkey) }
    case _:
      let field = SourceEntry.Field(
        key: key, value: value, isSecret: node.attributes["ProtectInMemory"] == "True")
      if !codes.take(field) { entry.fields.append(field) }
    }
  }

  private func attach(_ file: XMLNode, _ entry: inout SourceEntry) throws(ReadingFlaw) {
    let name = file["Key"]?.text ?? []
    guard let value = file["Value"] else { throw ReadingFlaw(.member, at: file.line, "Binary") }
    guard let number = value.attributes["Ref"] else {
      return entry.attachments.append(.init(name: name, bytes: try content(value)))
    }
    guard let bytes = files[number] else {
      return entry.left.append(Remark(reason: .invalid, field: name))
    }
    entry.attachments.append(.init(name: name, bytes: bytes))
  }
}
