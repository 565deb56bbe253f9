// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Holds one value as the agent stores it; an item with earlier values has a row for each.
struct Row: Equatable, Sendable {
  var name: String
  var value: [UInt8]
  var attributes: [ImportedItem.Pair] = []
  var secrets: [ImportedItem.Pair] = []
  var flags: BatchItem.Flags = []
  /// Which of the plan's steps it is of.
  var step: Int

  /// When it was made and changed; nil: now.
  var times: ItemTimes?

  /// The rows of a plan, in the order in which they are stored.
  static func rows(
    of steps: [Plan.Step], known: inout some KnownItems
  ) throws(ImportFailure) -> [Row] {
    var rows: [Row] = []
    for (index, step) in steps.enumerated() {
      switch step.action {
      case .new, .rename: rows += all(of: step.item, index, isOver: false)
      case .replace: rows += all(of: step.item, index, isOver: true)
      case .merge(let isNewer):
        rows += try Row(step.item, index).merged(isNewer, past: step.item.history, &known)
      case .same, .skip, .protected: break
      }
    }
    return rows
  }

  init(_ item: ImportedItem, _ step: Int) {
    self.init(name: item.name, value: item.value, attributes: item.attributes, step: step)
    secrets = item.secrets
    if item.isCode { flags.insert(.otp) }
    if item.isProtected { flags.insert(.protect) }
    if item.isDeleted { flags.insert(.delete) }
    if item.modified != 0, item.modified <= ItemTimes.latest {
      let created = item.created == 0 ? item.modified : min(item.created, item.modified)
      times = ItemTimes(created: created, modified: item.modified)
    }
  }

  private init(name: String, value: [UInt8], attributes: [ImportedItem.Pair], step: Int) {
    (self.name, self.value, self.attributes, self.step) = (name, value, attributes, step)
  }

  /// An item's rows: earlier revisions first, each below the next.
  private static func all(of item: ImportedItem, _ step: Int, isOver: Bool) -> [Row] {
    var rows: [Row] = []
    for value in item.history {
      var earlier = ImportedItem(name: item.name, value: value)
      earlier.isProtected = item.isProtected
      (earlier.created, earlier.modified) = (item.created, item.created)
      rows.append(Row(earlier, step))
    }
    for revision in item.earlier {
      var row = Row(revision, step)
      row.name = item.name
      row.flags.insert(.replaceAttributes)
      rows.append(row)
    }
    var last = Row(item, step)
    if item.isWhole { last.flags.insert(.replaceAttributes) }
    rows.append(last)
    for index in rows.indices where isOver || index > 0 { rows[index].flags.insert(.replace) }
    return rows
  }

  /// Keeps as it is what no codes can be made of.
  mutating func makeNoCode() {
    guard flags.remove(.otp) == nil, let index = secrets.firstIndex(where: { $0.key == Self.code })
    else { return }
    var (key, number) = (Self.code, 1)
    while (attributes + secrets).contains(where: { $0.key == key }) {
      number += 1
      key = Self.code + Array("-\(number)".utf8)
    }
    secrets[index].key = key
  }

  /// The key of what codes are made of.
  private static let code = Array("otp".utf8)

  /// Over, or below, what the vault has.
  ///
  /// - Parameter past: Values that go to the history.
  private func merged(
    _ isNewer: Bool, past: [[UInt8]], _ known: inout some KnownItems
  ) throws(ImportFailure) -> [Row] {
    guard let there = known.item(name), let value = try known.value(name) else { return [] }
    var rows = past.map { value in
      var row = Row(name: name, value: value, attributes: [], step: step)
      row.flags = flags.intersection(.protect)
      return row
    }
    var last = self
    last.times = nil
    if !isNewer {
      last.value = value
      last.flags = there.isCode ? .otp : []
    }
    rows.append(last)
    for index in rows.indices { rows[index].flags.insert(.replace) }
    return rows
  }
}
