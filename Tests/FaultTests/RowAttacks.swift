// SPDX-License-Identifier: MIT

/// What somebody with the file, its old copies and another vault, but no key, can do to its rows.
struct RowAttacks: Sendable {
  /// The rows as their owner left them.
  let rows: Rows
  /// The same vault's rows at earlier times.
  let earlier: [Rows]
  /// Rows of a copy that went another way, and of a vault with other keys.
  let foreign: [Rows]

  /// Changes the rows in one to three ways that leave neither the original nor a whole old state.
  func attacked(_ dice: inout Dice) -> (rows: Rows, deeds: [String]) {
    while true {
      var attacked = rows
      var deeds: [String] = []
      for _ in 0..<Int.random(in: 1...3, using: &dice) / 2 + 1 {
        deeds.append(deed(on: &attacked, &dice))
      }
      if attacked != rows, !isWholeState(attacked) { return (attacked, deeds) }
    }
  }

  /// Whether the rows are a whole earlier or other state: only the seen file can tell that one.
  private func isWholeState(_ candidate: Rows) -> Bool {
    (earlier + foreign).contains { candidate.sealed == $0.sealed }
  }

  private func deed(on attacked: inout Rows, _ dice: inout Dice) -> String {
    let table = Table.all.filter { !attacked.tables[$0]!.isEmpty }.randomElement(using: &dice)!
    switch Int.random(in: 0..<8, using: &dice) {
    case 0: return delete(from: table, of: &attacked, &dice)
    case 1: return duplicate(in: table, of: &attacked, &dice)
    case 2: return swapColumn(in: table, of: &attacked, &dice)
    case 3: return change(in: table, of: &attacked, &dice)
    case 4: return splice(into: &attacked, from: foreign.randomElement(using: &dice)!, &dice)
    case 5: return splice(into: &attacked, from: earlier.randomElement(using: &dice)!, &dice)
    case 6: return rollBack(&attacked, to: earlier.randomElement(using: &dice)!, &dice)
    default: return replaceTables(of: &attacked, &dice)
    }
  }

  private func delete(from table: Table, of attacked: inout Rows, _ dice: inout Dice) -> String {
    let count = Int.random(in: 1...3, using: &dice)
    for _ in 0..<count {
      guard let key = attacked.key(of: table, &dice) else { break }
      attacked.tables[table]![key] = nil
    }
    return "delete \(count) of \(table.name)"
  }

  /// A row once more, under a key that is like its own.
  private func duplicate(in table: Table, of attacked: inout Rows, _ dice: inout Dice) -> String {
    let key = attacked.key(of: table, &dice)!
    var row = attacked.tables[table]![key]!
    let column = Int.random(in: 0..<table.keyCount, using: &dice)
    row[column] = row[column].changed(&dice)
    attacked.store(row, in: table)
    return "duplicate a row of \(table.name) with another \(table.columns[column])"
  }

  /// One column of two rows exchanged, keys included.
  private func swapColumn(in table: Table, of attacked: inout Rows, _ dice: inout Dice) -> String {
    let column = Int.random(in: 0..<table.columns.count, using: &dice)
    let keys = [attacked.key(of: table, &dice)!, attacked.key(of: table, &dice)!]
    var pair = keys.map { attacked.tables[table]![$0]! }
    (pair[0][column], pair[1][column]) = (pair[1][column], pair[0][column])
    for key in keys { attacked.tables[table]![key] = nil }
    for row in pair { attacked.store(row, in: table) }
    return "exchange \(table.columns[column]) in \(table.name)"
  }

  private func change(in table: Table, of attacked: inout Rows, _ dice: inout Dice) -> String {
    let key = attacked.key(of: table, &dice)!
    var row = attacked.tables[table]!.removeValue(forKey: key)!
    let column = Int.random(in: 0..<table.columns.count, using: &dice)
    row[column] = row[column].changed(&dice)
    attacked.store(row, in: table)
    return "change \(table.columns[column]) in \(table.name)"
  }

  /// Rows of another state put in, beside or in the place of what is there.
  private func splice(
    into attacked: inout Rows, from other: Rows, _ dice: inout Dice
  ) -> String {
    let table = Table.all.filter { !other.tables[$0]!.isEmpty }.randomElement(using: &dice)!
    let count = Int.random(in: 1...3, using: &dice)
    for _ in 0..<count {
      var row = other.tables[table]![other.key(of: table, &dice)!]!
      if Bool.random(using: &dice), let key = attacked.key(of: table, &dice) {
        row.replaceSubrange(0..<table.keyCount, with: key)
      }
      attacked.store(row, in: table)
    }
    return "splice \(count) into \(table.name)"
  }

  /// Some of the rows that differ from an earlier state put back, across all tables.
  private func rollBack(
    _ attacked: inout Rows, to other: Rows, _ dice: inout Dice
  ) -> String {
    var count = 0
    for table in Table.all {
      let (now, then) = (attacked.tables[table]!, other.tables[table]!)
      let keys = Rows.sorted(Set(now.keys).union(then.keys))
      for key in keys where now[key] != then[key] {
        guard Int.random(in: 0..<4, using: &dice) > 0 else { continue }
        attacked.tables[table]![key] = then[key]
        count += 1
      }
    }
    return "roll back \(count) rows"
  }

  /// Whole tables of another state.
  private func replaceTables(of attacked: inout Rows, _ dice: inout Dice) -> String {
    let other = (earlier + foreign).randomElement(using: &dice)!
    let chosen = Table.all.filter { _ in Bool.random(using: &dice) }
    for table in chosen { attacked.tables[table] = other.tables[table] }
    return "replace " + chosen.map(\.name).joined(separator: " ")
  }
}

extension Rows {
  /// What the sealed root vouches for; chunks and loose values come and go without it.
  var sealed: Rows {
    var copy = self
    for table in Table.all where ["chunk", "loose"].contains(table.name) {
      copy.tables[table] = [:]
    }
    return copy
  }

  /// The sealed root.
  var root: [Database.Cell]? {
    tables[Table.all[0]]?[[.integer(2)]]
  }

  /// Whether only what the sealed root does not vouch for differs.
  func differsInLeftoversOnly(from other: Rows) -> Bool { sealed == other.sealed }

  /// Some row's key, the same for the same dice.
  func key(of table: Table, _ dice: inout Dice) -> Key? {
    Rows.sorted(tables[table]!.keys).randomElement(using: &dice)
  }

  /// Keys in an order that the process's own hashing has no part in.
  static func sorted(_ keys: some Sequence<Key>) -> [Key] {
    keys.sorted { "\($0)" < "\($1)" }
  }

  mutating func store(_ row: [Database.Cell], in table: Table) {
    tables[table]![Array(row.prefix(table.keyCount))] = row
  }
}

extension Database.Cell {
  /// Another value of the same type: a near number, or bytes flipped, cut, added or gone.
  func changed(_ dice: inout Dice) -> Database.Cell {
    switch self {
    case .integer(let number):
      let others = [number + 1, number - 1, 0, 64, number | 1 << 32]
      return .integer(others.randomElement(using: &dice)!)
    case .blob(var bytes):
      switch Int.random(in: 0..<5, using: &dice) {
      case 0: bytes = []
      case 1: bytes.removeLast(min(bytes.count, Int.random(in: 1...40, using: &dice)))
      case 2: bytes.append(UInt8.random(in: 0...255, using: &dice))
      default:
        if let at = bytes.indices.randomElement(using: &dice) {
          bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
        }
      }
      return .blob(bytes)
    case .other: return .other
    }
  }
}
