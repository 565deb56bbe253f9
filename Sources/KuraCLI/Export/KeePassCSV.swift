// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes entries as the CSV that KeePassXC exports and imports (RFC 4180).
enum KeePassCSV {
  /// The columns, as KeePassXC names them.
  private static let columns = [
    "Group", "Title", "Username", "Password", "URL", "Notes", "TOTP", "Icon", "Last Modified",
    "Created",
  ]

  static func open(_ output: inout Output) throws(CommandError) {
    for (index, column) in columns.enumerated() {
      try output.write((index > 0 ? "," : "") + "\"" + column + "\"")
    }
    try output.write("\n")
  }

  /// Writes an entry.
  ///
  /// - Parameter flaw: Is told of the items that have no column.
  static func write(
    _ entry: borrowing ExportedEntry, _ output: inout Output,
    flaw: (String, String) -> Void
  ) throws(CommandError) {
    try output.cell("Root" + entry.folders.map { "/" + $0 }.joined())
    try next(&output)
    try output.cell(entry.title)
    try next(&output)
    try output.cell(entry.attribute("user").span)
    try next(&output)
    try part(.password, entry, &output)
    try output.cell(entry.attribute("url").span)
    try next(&output)
    try part(.notes, entry, &output)
    try part(.code, entry, &output)
    try output.cell("0")
    try next(&output)
    try output.cell(Moment.rfc3339(entry.item.facts.modified))
    try next(&output)
    try output.cell(Moment.rfc3339(entry.item.facts.created))
    try output.write("\n")
    for part in entry.parts where part.role == .field || part.role == .attachment {
      flaw(part.label, "there is no column for it")
    }
    for attribute in entry.otherAttributes(than: ["user", "url"]) {
      flaw(attribute.key, "there is no column for it")
    }
  }

  private static func next(_ output: inout Output) throws(CommandError) { try output.write(",") }

  private static func part(
    _ role: ExportedEntry.Role, _ entry: borrowing ExportedEntry, _ output: inout Output
  ) throws(CommandError) {
    if let part = entry.first(role) {
      try output.cell(entry.bytes(part))
    } else {
      try output.cell("")
    }
    try next(&output)
  }
}

extension Output {
  fileprivate mutating func cell(_ text: String) throws(CommandError) {
    let bytes = Array(text.utf8)
    try cell(bytes.span)
  }

  /// Writes a field within quotes, which stand twice in it.
  fileprivate mutating func cell(_ text: Span<UInt8>) throws(CommandError) {
    try write("\"")
    var start = 0
    for index in text.indices where text[index] == UInt8(ascii: "\"") {
      try write(text.extracting(start...index))
      try write("\"")
      start = index + 1
    }
    try write(text.extracting(start..<text.count))
    try write("\"")
  }
}
