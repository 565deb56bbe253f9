// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraImport

/// What is done where the vault has items already.
@Suite struct PlanTests {
  private struct Vault: KnownItems {
    var items: [String: (known: KnownItem, value: String)] = [:]

    init(_ items: (String, String, KnownItem)...) {
      for (name, value, known) in items {
        var known = known
        known.size = UInt64(value.utf8.count)
        self.items[name] = (known, value)
      }
    }

    var hidden: [String: [ImportedItem.Pair]] = [:]
    var pasts: [String: [String]] = [:]
    var depth = 10

    func earlier(_ name: String) throws(ImportFailure) -> [[UInt8]] {
      (pasts[name] ?? []).map { Array($0) }
    }

    func item(_ name: String) -> KnownItem? { items[name]?.known }

    func secrets(_ name: String) throws(ImportFailure) -> [ImportedItem.Pair] { hidden[name] ?? [] }

    func value(_ name: String) throws(ImportFailure) -> [UInt8]? {
      items[name].flatMap { $0.known.isProtected ? nil : Array($0.value) }
    }
  }

  private func item(
    _ name: String, _ value: String, at place: UInt64 = 1, attributes: [ImportedItem.Pair] = [],
    modified: UInt64 = 0
  ) -> ImportedItem {
    var item = ImportedItem(name: name, value: Array(value), attributes: attributes, place: place)
    item.modified = modified
    return item
  }

  private func actions(
    _ items: [ImportedItem], _ policy: DuplicatePolicy, _ vault: Vault
  ) throws -> [Plan.Action] {
    var vault = vault
    return try Plan(items, policy, known: &vault).steps.map(\.action)
  }

  private let user = ImportedItem.Pair(key: Array("user"), value: Array("ada"))

  @Test(arguments: DuplicatePolicy.allCases)
  func `what is there as it is stays`(_ policy: DuplicatePolicy) throws {
    let vault = Vault(("a", "1", KnownItem(attributes: [user])))
    #expect(
      try actions([item("a", "1", attributes: [user]), item("b", "2", at: 2)], policy, vault) == [
        .same, .new,
      ])
  }

  @Test func `a secret attribute counts as a public one does`() throws {
    var vault = Vault(("a", "1", KnownItem()))
    var wanted = item("a", "1")
    wanted.secrets = [user]
    #expect(try actions([wanted], .skip, vault) == [.skip])
    #expect(try actions([wanted], .merge, vault) == [.merge(isNewer: false)])
    let plan = try Plan([wanted], .merge, known: &vault)
    let rows = try Row.rows(of: plan.steps, known: &vault)
    #expect(rows.map(\.secrets) == [[user]])
    vault.hidden["a"] = [.init(key: user.key, value: Array("eve"))]
    #expect(try actions([wanted], .skip, vault) == [.skip])
    // The vault's stays, and that is said.
    let other = try Plan([wanted], .merge, known: &vault)
    #expect(other.steps.map(\.action) == [.same])
    #expect(other.lost.map(\.field) == ["user"] && other.lost[0].reason == .vaultsStays)
    vault.hidden["a"] = [user]
    #expect(try actions([wanted], .skip, vault) == [.same])
  }

  @Test func `a code that is none is kept under another key`() {
    var wanted = item("a", "1")
    wanted.secrets = [.init(key: Array("otp"), value: Array("x")), user]
    var row = Row(wanted, 0)
    row.makeNoCode()
    #expect(row.secrets.map(\.key) == [Array("otp-2"), Array("user")])
  }

  @Test func `another value, attribute or kind is another item`() throws {
    let vault = Vault(("a", "1", KnownItem()))
    #expect(try actions([item("a", "2")], .skip, vault) == [.skip])
    #expect(try actions([item("a", "1", attributes: [user])], .skip, vault) == [.skip])
    var code = item("a", "1")
    code.isCode = true
    #expect(try actions([code], .skip, vault) == [.skip])
    #expect(try actions([item("a", "2")], .replace, vault) == [.replace])
  }

  @Test func `an entry is renamed with all that stands beside it, and once only`() throws {
    var vault = Vault(("a", "1", KnownItem()), ("a (2)", "other", KnownItem()))
    let group = [item("a", "2"), item("a/notes", "n")]
    var plan = try Plan(group, .rename, known: &vault)
    #expect(plan.steps.map(\.item.name) == ["a (3)", "a (3)/notes"])
    #expect(plan.steps.map(\.action) == [.rename("a"), .rename("a/notes")])
    vault.items["a (3)"] = (KnownItem(size: 1), "2")
    vault.items["a (3)/notes"] = (KnownItem(size: 1), "n")
    plan = try Plan(group, .rename, known: &vault)
    #expect(plan.steps.map(\.action) == [.same, .same])
  }

  @Test func `the newer of two is on top, and the other one in the history`() throws {
    var vault = Vault(("a", "old", KnownItem(attributes: [user], modified: 100)))
    let url = ImportedItem.Pair(key: Array("url"), value: Array("u"))
    let other = ImportedItem.Pair(key: Array("user"), value: Array("bob"))
    for (modified, values, attributes, left) in [
      (UInt64(200), ["new"], [[other, url]], []),
      (50, ["new", "old"], [[], [url]], [Leaving.Reason.vaultsStays]),
    ] {
      let plan = try Plan(
        [item("a", "new", attributes: [other, url], modified: modified)], .merge, known: &vault)
      let rows = try Row.rows(of: plan.steps, known: &vault)
      #expect(rows.map(\.value.text) == values)
      #expect(rows.map(\.attributes) == attributes)
      #expect(rows.allSatisfy { $0.flags == .replace })
      #expect(plan.lost.map(\.reason) == left)
    }
  }

  @Test func `a merge adds the earlier values that the vault lacks, and the same once`() throws {
    var vault = Vault(("a", "2", KnownItem(modified: 100)))
    vault.pasts["a"] = ["0", "1"]
    var same = item("a", "2")
    same.history = ["1", "x", "x", "2", "y"].map { Array($0) }
    var older = item("a", "z", modified: 50)
    older.history = [Array("w")]
    var newer = item("a", "3", modified: 200)
    newer.history = [Array("1"), Array("w")]
    for (item, values) in [
      (same, ["x", "y", "2"]), (older, ["w", "z", "2"]), (newer, ["w", "3"]),
    ] {
      let plan = try Plan([item], .merge, known: &vault)
      let rows = try Row.rows(of: plan.steps, known: &vault)
      #expect(rows.map(\.value.text) == values)
      #expect(rows.allSatisfy { $0.flags == .replace && $0.times == nil } && plan.lost.isEmpty)
      var after = vault
      after.pasts["a"] = ["0", "1", "2"] + values.dropLast()
      after.items["a"]?.value = values[values.count - 1]
      #expect(try actions([item], .merge, after) == [.same])
    }
  }

  @Test func `what the vault's history has no room for is said, and pushes nothing out`() throws {
    var vault = Vault(("a", "v", KnownItem(modified: 100)))
    vault.pasts["a"] = (0..<6).map { "\($0)" }
    var many = item("a", "v")
    many.history = (0..<12).map { Array("h\($0)") }
    func rows(
      _ item: ImportedItem, _ policy: DuplicatePolicy
    ) throws -> ([String], [Leaving.Reason]) {
      let plan = try Plan([item], policy, known: &vault)
      #expect(plan.lost.allSatisfy { $0.field == "earlier values" && $0.place == 1 })
      return (
        try Row.rows(of: plan.steps, known: &vault).map(\.value.text), plan.lost.map(\.reason)
      )
    }
    #expect(try rows(many, .skip) == ([], [.pastOfSame(12)]))
    #expect(try rows(many, .merge) == (["h9", "h10", "h11", "v"], [.pastBeyond(9)]))
    many.value = Array("w")
    // Of two values the one that is not on top is below it in any case.
    #expect(try rows(many, .merge) == (["h10", "h11", "w", "v"], [.pastBeyond(10)]))
    #expect(try rows(many, .replace) == (["h9", "h10", "h11", "w"], [.pastBeyond(9)]))
    vault.pasts["a"] = (0..<10).map { "\($0)" }
    #expect(try rows(many, .merge) == (["w", "v"], [.pastBeyond(12)]))
    many.name = "new"
    #expect(try rows(many, .skip).0.count == 11)
    #expect(try rows(many, .skip).1 == [.pastBeyond(2)])
    many.isProtected = true
    #expect(try rows(many, .skip).1 == [])
    many.isProtected = false
    vault.depth = 0
    #expect(try rows(many, .skip) == (["w"], [.pastBeyond(12)]))
  }

  @Test func `a merge takes the values alone of Kura's own history`() throws {
    var vault = Vault(("a", "2", KnownItem(attributes: [user], modified: .max)))
    vault.pasts["a"] = ["0"]
    let lines = """
      {"name":"a","value":"1","modified":"2025-01-01T00:00:00Z","attributes":{"user":"eve"}}
      {"name":"a","kind":"deleted","modified":"2025-02-01T00:00:00Z"}
      {"name":"a","value":"2","modified":"2025-03-01T00:00:00Z","attributes":{"user":"ada"}}
      """
    let plan = try Plan(try items(Array(lines), .jsonLines), .merge, known: &vault)
    let rows = try Row.rows(of: plan.steps, known: &vault)
    #expect(rows.map(\.value.text) == ["1", "2"] && rows.allSatisfy { $0.attributes.isEmpty })
    #expect(plan.lost.map(\.reason) == [.pastAttributes])
  }

  @Test func `what takes the passcode is neither read nor touched by a merge`() throws {
    let vault = Vault(("a", "1", KnownItem(isProtected: true)))
    #expect(try actions([item("a", "1")], .merge, vault) == [.protected])
    #expect(try actions([item("a", "1")], .skip, vault) == [.skip])
  }

  @Test func `earlier values come first, and the item over them`() throws {
    var vault = Vault()
    var old = item("a", "3", attributes: [user])
    old.history = [Array("1"), Array("2")]
    let plan = try Plan([old], .skip, known: &vault)
    let rows = try Row.rows(of: plan.steps, known: &vault)
    #expect(rows.map(\.value.text) == ["1", "2", "3"])
    #expect(rows.map(\.flags) == [[], .replace, .replace])
    #expect(rows.map(\.attributes.count) == [0, 0, 1])
    #expect(rows.allSatisfy { $0.times == nil })
  }

  @Test func `a history of Kura's own comes with times, attributes and deletions`() throws {
    var vault = Vault()
    let lines = """
      {"name":"a","value":"1","created":"2025-01-01T00:00:00Z","modified":"2025-01-01T00:00:00Z","attributes":{"user":"ada"}}
      {"name":"b","value":"x"}
      {"name":"a","value":"2","created":"2025-01-01T00:00:00Z","modified":"2026-01-01T00:00:00.5Z"}
      {"name":"a","kind":"deleted","created":"2025-01-01T00:00:00Z","modified":"2026-02-01T00:00:00Z"}
      """
    let plan = try Plan(try items(Array(lines), .jsonLines), .skip, known: &vault)
    let rows = try Row.rows(of: plan.steps, known: &vault)
    #expect(rows.map(\.name) == ["a", "a", "a", "b"])
    #expect(
      rows.map(\.flags) == [
        [.replaceAttributes], [.replaceAttributes, .replace],
        [.replaceAttributes, .replace, .delete], [],
      ])
    #expect(rows[1].times == ItemTimes(created: 1_735_689_600_000, modified: 1_767_225_600_500))
    #expect(rows[0].attributes == [user] && rows[1].attributes.isEmpty && rows[2].value.isEmpty)
  }
}

/// The words of the command line.
@Suite struct ImportOrderTests {
  @Test func `words are what they mean`() throws {
    let order = try ImportOrder([
      "--vault", "work", "--into", "a/b/", "--on-duplicate", "merge", "--dry-run", "-q", "--",
      "dotenv", "-x",
    ])
    #expect(order.vault == "work" && order.folder == "a/b" && order.policy == .merge)
    #expect(order.isDry && order.isQuiet && order.format == .dotenv && order.source == "-x")
    #expect(try ImportOrder(["json-lines"]).source == "-")
  }

  @Test(arguments: [
    [], ["nope"], ["dotenv", "a", "b"], ["--on-duplicate", "x", "dotenv"], ["-z", "dotenv"],
    ["--vault"],
  ])
  func `others are refused`(_ words: [String]) {
    #expect(throws: ImportOrder.Flaw.self) { try ImportOrder(words) }
  }
}
