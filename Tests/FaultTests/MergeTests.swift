// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// What the engine makes of two histories, against the model in Tests/reference.
@Suite struct MergeTests {
  @Test func `the model's rules hold over random machines`() throws {
    let seed = Dice().seed
    let runs = Scale.count(20, nightly: 3_000)
    let output = try Python.run("merge_fuzz.py", ["--runs", "\(runs)", "--seed", "\(seed)"])
    #expect(output.status == 0, "\(output.lines.suffix(5).joined(separator: "\n"))")
  }

  @Test func `what comes of two copies is what the model says`() throws {
    let seed = Dice().seed
    let (batch, count) = (2_500, Scale.count(2_500, nightly: 100_000))
    for number in 0..<(count / batch) {
      let output = try Python.run(
        "merge_cases.py", ["--seed", "\(seed)/\(number)", "--count", "\(batch)"])
      try #require(output.status == 0, "\(output.lines.suffix(5).joined(separator: "\n"))")
      let cases = output.lines.split { $0.hasPrefix("case ") }
      #expect(cases.count == batch)
      let names = output.lines.filter { $0.hasPrefix("case ") }
      for (name, lines) in zip(names, cases) {
        let found = MergeCase(lines).faults()
        try #require(found.isEmpty, "\(name) (KURA_SEED=\(seed)): \(found.joined(separator: "\n"))")
      }
    }
  }

  @Test func `a case that was tampered with is noticed`() throws {
    let output = try Python.run("merge_cases.py", ["--count", "200"])
    let cases = output.lines.split { $0.hasPrefix("case ") }
    for verb in ["take", "view", "shown", "prune", "number", "strictest", "open", "stands"] {
      let lines = try #require(cases.first { $0.contains { $0.hasPrefix(verb + " ") } })
      let index = try #require(lines.firstIndex { $0.hasPrefix(verb + " ") })
      var changed = lines
      changed[index] += "0"
      #expect(MergeCase(lines).faults() == [])
      #expect(MergeCase(changed).faults() != [], "\(verb)")
    }
  }
}

/// One case: what is given, and what the model says of it.
struct MergeCase {
  private let lines: [String]

  init(_ lines: ArraySlice<String>) { self.lines = Array(lines) }

  /// What is not as the model says, or not as merging has to be.
  func faults() -> [String] {
    switch lines[0].prefix(while: { $0 != " " }) {
    case "history": return itemFaults()
    case "register": return settingFaults()
    case "slots": return slotFaults()
    default: return nameFaults()
    }
  }

  private func compare(_ made: [String], _ said: some Sequence<String>) -> [String] {
    let said = Array(said)
    guard made != said else { return [] }
    let index =
      zip(made, said).enumerated().first { $1.0 != $1.1 }?.offset ?? min(made.count, said.count)
    return [
      "made: \(index < made.count ? made[index] : "nothing")",
      "said: \(index < said.count ? said[index] : "nothing")",
    ]
  }

  /// Groups of lines that each begin with a verb, and go on with another one; three of them.
  private func groups(_ verb: String, _ more: String) -> ([ArraySlice<String>], rest: Int) {
    var (groups, index): ([ArraySlice<String>], Int) = ([], 0)
    while groups.count < 3 {
      precondition(lines[index].split(separator: " ")[0] == verb, "not a case")
      let start = index
      index += 1
      while lines[index].hasPrefix(more + " ") { index += 1 }
      groups.append(lines[start..<index])
    }
    return (groups, index)
  }
}

// MARK: - Items

extension MergeCase {
  private func itemFaults() -> [String] {
    let (groups, rest) = groups("history", "revision")
    let given = groups.map { group in
      ItemHistory(
        group.dropFirst().map(MergeText.revision),
        purged: MergeText.vector(group[group.startIndex].split(separator: " ")[1]))
    }
    let merged = given[0].taking(given[1])
    var made: [String] = []
    for line in lines[rest...] {
      let words = line.split(separator: " ")
      switch words[0] {
      case "take":
        made.append("take \(MergeText.text(merged.purged))\(MergeText.ids(merged.revisions))")
      case "number": made.append("number\(MergeText.ids(merged.news(since: given[0])))")
      case "view" where made.count == 2: made += MergeText.view(merged)
      case "prune":
        let kept = merged.pruned(to: Int(words[1])!)
        made.append("prune \(words[1])\(MergeText.ids(kept.revisions))")
      case "change", "purge": made += [line] + change(words, of: merged)
      default: break
      }
    }
    return compare(made, lines[rest...]) + lawFaults(given, merged)
  }

  private func change(_ words: [Substring], of history: ItemHistory) -> [String] {
    var change = HistoryChange(
      id: RevisionID(hexadecimal: words[1])!, entry: MergeText.entry(words[2]))
    if words[0] == "purge" {
      change.state = .purged
    } else {
      change.state = MergeText.state(words[3])
      if words[4] != "-" { change.protection = words[4] == "protected" ? .protected : .standard }
      change.settles = words[5] == "settle"
      for word in words[6...] {
        let parts = word.split(separator: "=")
        change.fields[MergeText.key(parts[0])] = MergeText.content(parts[1])
      }
    }
    let revision = history.revision(for: change)!
    let after = history.adding(revision)
    return (change.state == .purged ? MergeText.lines(after) : [MergeText.text(revision)])
      + MergeText.view(after)
  }

  /// The laws of merging, whatever the model says.
  private func lawFaults(_ given: [ItemHistory], _ merged: ItemHistory) -> [String] {
    let (first, second, third) = (given[0], given[1], given[2])
    let mark = { (history: ItemHistory) in HistoryMark(.zero, history) }
    var faults: [String] = []
    if first.taking(first) != first { faults.append("not idempotent") }
    if merged.taking(second) != merged { faults.append("taken twice") }
    let other = second.taking(first)
    if mark(other) != mark(merged) || other.standing != merged.standing {
      faults.append("not commutative")
    }
    let (left, right) = (merged.taking(third), first.taking(second.taking(third)))
    if mark(left) != mark(right) || left.standing != right.standing {
      faults.append("not associative")
    }
    let sides = merged.sides
    for side in first.sides + second.sides
    where !sides.contains(side) && !merged.purged.covers(side.stamp.entry)
      && !sides.contains(where: { $0.lineage.follows(side.lineage) })
    { faults.append("lost: \(side.stamp.id.hexadecimal)") }
    for (key, field) in merged.standing.fields {
      for content in field.contents
      where !merged.revisions.contains(where: { $0.hasInRow(content, of: key) }) {
        faults.append("in no row: \(MergeText.text([content]))")
      }
      let listed = ([field.shown] + field.conflicts).map { $0.content }
      for (index, content) in listed.enumerated()
      where listed[..<index].contains(where: { $0.agrees(with: content) }) {
        faults.append("listed twice: \(MergeText.text(content))")
      }
    }
    return faults
  }
}

// MARK: - Settings, slots, names

extension MergeCase {
  private func settingFaults() -> [String] {
    let (groups, rest) = groups("register", "side")
    let given = groups.map { group in
      group.dropFirst().map { line in
        let words = line.split(separator: " ")
        return SettingSides.Side(MergeText.lineage(words[1...]), value: UInt64(words[5])!)
      }
    }
    let merged = given[0].taking(given[1])
    let strictest = Setting.idleTimeout.strictest(of: merged.map { $0.value })
    return compare(
      ["stands\(MergeText.ids(merged))", "strictest \(strictest.map(String.init) ?? "-")"],
      lines[rest...]) + sideFaults(given)
  }

  private func slotFaults() -> [String] {
    let (groups, rest) = groups("slots", "side")
    let given = groups.map { group in
      group.dropFirst().map { line in
        let words = line.split(separator: " ")
        let slots = words[5].split(separator: ",").map { slot in
          let parts = slot.split(separator: ":")
          return SlotTableSide.Slot(
            SlotID(hexadecimal: parts[0])!, SlotKind(rawValue: UInt8(parts[1])!)!,
            made: MergeText.entry(slot.suffix(from: parts[2].startIndex)))
        }
        return SlotTableSide(MergeText.lineage(words[1...]), slots: slots)
      }
    }
    let merged = given[0].taking(given[1])
    let open = merged.standing().map { " " + $0.id.hexadecimal }.joined()
    return compare(["stands\(MergeText.ids(merged))", "open\(open)"], lines[rest...])
      + sideFaults(given)
  }

  private func sideFaults<Side: Revised & Equatable>(_ given: [[Side]]) -> [String] {
    let (first, second, third) = (given[0], given[1], given[2])
    return (first.taking(first) == first ? [] : ["not idempotent"])
      + (first.taking(second) == second.taking(first) ? [] : ["not commutative"])
      + (first.taking(second).taking(third) == first.taking(second.taking(third))
        ? [] : ["not associative"])
  }

  private func nameFaults() -> [String] {
    var names: [ItemID: [UInt8]] = [:]
    let tags = Tags()
    let claims = lines.dropFirst().map { line in
      let words = line.split(separator: " ")
      let id = ItemID(hexadecimal: words[1])!
      let name = Bytes.fromHex(words[4])
      names[id] = name
      return PlacedNames.Claim(
        item: id, state: MergeText.state(words[2]),
        protection: words[3] == "protected" ? .protected : .standard, wanted: tags.tag(of: name))
    }
    var placed = PlacedNames(claims)
    do {
      while try placed.step({ claim, attempt throws(VaultError) in
        tags.tag(of: try Self.name(names[claim.item]!, claim.item, attempt))
      }) {}
      let made = try lines.dropFirst().map { line in
        let words = line.split(separator: " ")
        let id = ItemID(hexadecimal: words[1])!
        guard let attempt = placed.places[id]?.attempt else { return "-" }
        let wanted = names[id]!
        return Bytes.hex(attempt == 0 ? wanted : try Self.name(wanted, id, attempt))
      }
      return compare(
        made, lines.dropFirst().map { String($0.split(separator: " ")[5]) })
    } catch { return ["\(error)"] }
  }

  private static func name(
    _ wanted: [UInt8], _ item: ItemID, _ attempt: Int
  ) throws(VaultError) -> [UInt8] {
    let name = try PlacedNames.name(wanted.span, of: item, attempt: attempt)
    return name.bytes.indices.map { name.bytes[$0] }
  }

  /// Tags that are a name's number, since no key is asked for.
  private final class Tags {
    private var numbers: [[UInt8]: UInt8] = [:]

    func tag(of name: [UInt8]) -> ItemTag {
      let number = numbers[name] ?? UInt8(numbers.count)
      numbers[name] = number
      return ItemTag([UInt8](repeating: number, count: 16).span)
    }
  }
}
