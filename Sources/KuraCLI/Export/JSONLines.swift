// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes items as the lines that `put --batch` takes, a revision a line, the oldest first. A long value goes on
/// over several lines.
enum JSONLines {
  /// The longest value of one line: in base64, and with all the attributes that there can be, it fits.
  static let longest = 2_800_000
  /// How much of a longer one stands on each line.
  static let piece = 2_097_152
  /// A longer one is base64, whatever it holds: of a text each character could take six.
  private static let longestText = 65_536

  /// Writes all revisions of an item.
  static func write(
    _ name: String, _ items: inout ExportedItems, _ value: inout SecretBuffer,
    _ output: inout Output
  ) throws(CommandError) {
    let revisions = try items.revisions(of: name)
    for (index, told) in revisions.enumerated() {
      guard told.facts.kind != .deleted else {
        try open(told, name, &output)
        try output.closeDocument()
        continue
      }
      let isCurrent = index == revisions.count - 1
      let revision = isCurrent ? 0 : told.facts.revision
      let item = try items.read(name, revision: revision, into: &value, limit: longest)
      let secrets = try items.secrets(of: item, name, revision: revision)
      try open(item, name, &output)
      try output.attributes(of: item)
      try secrets.write(&output)
      if item.facts.size > UInt64(longest) {
        try writePieces(of: item, name, revision, &items, &output)
      } else {
        try write(value, &output)
        try output.closeDocument()
      }
    }
  }

  private static func open(
    _ item: Item, _ name: String, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("name", name)
    try output.member("created", moment: item.facts.created)
    try output.member("modified", moment: item.facts.modified)
    try output.member("class", item.facts.protection.name)
    try output.member("kind", item.facts.kind.name)
  }

  private static func write(
    _ value: borrowing SecretBuffer, _ output: inout Output
  ) throws(CommandError) {
    guard value.count > longestText else {
      return try output.member("value", bytes: value.bytes)
    }
    try output.key("value")
    try output.element(base64: value.bytes)
  }
}

// MARK: - Long values

extension JSONLines {
  /// Writes a value behind what was written of its item, and ends the line.
  private static func writePieces(
    of item: Item, _ name: String, _ revision: UInt64, _ items: inout ExportedItems,
    _ output: inout Output
  ) throws(CommandError) {
    var pieces = ValuePieces(name)
    try pieces.open(&output)
    let read = try items.read(name, revision: revision) { part throws(CommandError) in
      try pieces.write(part, &output)
    }
    guard read.facts.revision == item.facts.revision else {
      throw .failure(
        Diagnostic.shown(name) + " was changed while it was written", hint: "export again")
    }
    try pieces.close(&output)
  }
}

/// Spreads a value over lines of which each but the last says that it goes on.
private struct ValuePieces {
  private let name: String
  private var base64 = Base64()
  /// What the line at hand still takes.
  private var room = JSONLines.piece

  init(_ name: String) { self.name = name }

  mutating func open(_ output: inout Output) throws(CommandError) {
    try output.key("value")
    try output.openObject()
    try output.key("base64")
    try output.openString()
  }

  mutating func write(_ part: Span<UInt8>, _ output: inout Output) throws(CommandError) {
    var start = 0
    while start < part.count {
      if room == 0 { try turn(&output) }
      let count = min(room, part.count - start)
      try output.append(part.extracting(start..<start + count), &base64)
      start += count
      room -= count
    }
  }

  /// Ends a line, and begins the next.
  private mutating func turn(_ output: inout Output) throws(CommandError) {
    try closeValue(&output)
    try output.member("more", true)
    try output.closeDocument()
    try output.openDocument()
    try output.member("name", name)
    try open(&output)
    room = JSONLines.piece
  }

  private mutating func closeValue(_ output: inout Output) throws(CommandError) {
    try output.finish(&base64)
    try output.closeString()
    try output.closeObject()
  }

  mutating func close(_ output: inout Output) throws(CommandError) {
    try closeValue(&output)
    try output.closeDocument()
  }
}
