// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes items in a format, one after another, and tells what of them it cannot hold.
struct ExportWriter: ~Copyable {
  private var items: ExportedItems
  private let messages: Messages
  private var bar: ProgressBar
  /// How many were written.
  private(set) var count = 0
  /// How many things were left out, each of which was told.
  private(set) var left = 0
  /// What the form holds of no item; nil where all is there.
  var losses: String? { items.losses.words }

  init(_ items: consuming ExportedItems, _ messages: Messages) {
    self.items = items
    self.messages = messages
    bar = ProgressBar("exporting", messages)
  }

  /// Writes all.
  mutating func write(_ format: ExportFormat, _ output: inout Output) throws(CommandError) {
    defer { bar.clear() }
    switch format {
    case .jsonLines: try writeLines(&output)
    case .keepassCSV:
      try KeePassCSV.open(&output)
      try eachEntry { entry, _, _, flaw throws(CommandError) in
        try KeePassCSV.write(entry, &output, flaw: flaw)
      }
    case .keepassXML:
      var document = try KeePassXML.begin(&output)
      try eachEntry { entry, items, _, flaw throws(CommandError) in
        try document.write(entry, &items, &output, flaw: flaw)
      }
      try document.close(&output)
    case .bitwardenJSON:
      let document = try BitwardenJSON(EntryGrouping.groups(of: items.names), &output)
      try eachEntry { entry, items, number, flaw throws(CommandError) in
        try document.write(entry, number: number, &items, &output, flaw: flaw)
      }
      try document.close(&output)
    case .cxf:
      var document = try ExchangeFormat.begin(&output)
      try eachEntry { entry, _, number, flaw throws(CommandError) in
        try document.write(entry, number: number, &output, flaw: flaw)
      }
      try document.close(&output)
    case .dotenv: try writeVariables(&output)
    case .pass: preconditionFailure("a store is a folder")
    }
  }

  /// Writes all as a store that pass reads.
  mutating func write(_ store: inout StoreFolder) throws(CommandError) {
    defer { bar.clear() }
    try eachEntry { entry, _, _, flaw throws(CommandError) in
      try store.write(entry, flaw: flaw)
    }
    bar.clear()
    for (name, path) in store.renamed {
      messages.note("renamed " + Diagnostic.shown(name) + ": it is " + Diagnostic.shown(path))
    }
  }

  private mutating func writeVariables(_ output: inout Output) throws(CommandError) {
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    let variables = DotenvFile.variables(of: items.names, below: items.prefix)
    for (index, variable) in variables.enumerated() {
      let name = items.names[index]
      var flaw = variable.flaw
      if flaw == nil { flaw = try write(variable.name, of: name, &value, &output) }
      if let flaw {
        tell(name, flaw)
      } else {
        count += 1
      }
      show(index + 1, of: variables.count)
    }
  }

  private mutating func write(
    _ variable: [UInt8], of name: String, _ value: inout SecretBuffer, _ output: inout Output
  ) throws(CommandError) -> String? {
    let limit = VariableList.lengthLimit - variable.count - 2
    let item = try items.read(name, revision: 0, into: &value, limit: limit)
    items.losses.add(item, isProtected: item.facts.protection == .protected)
    if try items.secrets(of: item, name).count > 0 {
      tell(name, "its secret attributes, which no variable holds")
    }
    guard item.facts.size <= UInt64(limit) else {
      return "its value has \(item.facts.size) bytes, and a variable takes \(limit)"
    }
    return try DotenvFile.write(variable, value.bytes, &output)
  }

  private mutating func writeLines(_ output: inout Output) throws(CommandError) {
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    for (index, name) in items.names.enumerated() {
      try JSONLines.write(name, &items, &value, &output)
      count += 1
      show(index + 1, of: items.names.count)
    }
  }

  private mutating func eachEntry(
    _ body: (
      borrowing ExportedEntry, inout ExportedItems, Int, (String, String) -> Void
    ) throws(CommandError) -> Void
  ) throws(CommandError) {
    let groups = EntryGrouping.groups(of: items.names)
    for (index, group) in groups.enumerated() {
      var flaws: [(String, String)] = []
      let entry = try ExportedEntry.read(group, &items) { flaws.append(($0, $1)) }
      if let entry {
        items.losses.add(entry.item, isProtected: entry.parts.contains { $0.isProtected })
        try body(entry, &items, index) { flaws.append((entry.item.name + ": " + $0, $1)) }
        count += 1
      }
      for (name, flaw) in flaws { tell(name, flaw) }
      show(index + 1, of: groups.count)
    }
  }

  private mutating func tell(_ name: String, _ flaw: String) {
    left += 1
    bar.clear()
    messages.note("left out " + Diagnostic.shown(name) + ": " + flaw)
  }

  private mutating func show(_ done: Int, of total: Int) {
    bar.show(ProgressReport(done: UInt64(done), total: UInt64(total)))
  }
}
