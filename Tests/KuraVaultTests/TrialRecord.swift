// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// Notes what is done to vaults and what they show, in the words of `Tests/reference/trial_judge.py`.
///
/// Of the engine's own bookkeeping it has nothing but which revisions are held: all else the judge makes out by itself.
struct TrialRecord {
  private(set) var lines: [String] = []
  /// All items that anybody ever had.
  private(set) var items: Set<ItemID> = []
  /// How often each machine was put back: a device is one life of one machine.
  var lives: [Int: Int] = [:]

  mutating func add(_ line: String) { lines.append(line) }

  /// Does something to one item, and notes what became of it.
  ///
  /// - Parameters:
  ///   - name: The item's, or that of one to be.
  ///   - after: Its name then; nil for the same.
  ///   - set: The attributes that are set, also to what they were: who deletes one meanwhile contradicts that.
  mutating func note(
    _ word: String, _ name: String, to after: String? = nil, setting set: [String: String] = [:],
    on machine: Int, in vault: inout UnlockedVault,
    _ body: (inout UnlockedVault) throws -> Void
  ) throws {
    let before = try vault.heldItem(name)
    let old = try vault.shownFields(name)
    let displaced = try after.flatMap { try vault.heldItem($0) }
    try body(&vault)
    // What was deleted takes the name of what takes its own.
    if let displaced, displaced.id != before?.id {
      let now = try vault.held(displaced.id, at: name)
      try add("displaced", displaced, now, machine, " name=\(name.hexadecimalDigits)")
    }
    let id: ItemID
    var fields: [String: String] = [:]
    if let now = try vault.heldItem(after ?? name) {
      id = now.id
      let new = try vault.shownFields(after ?? name)
      switch word {
      case "put":
        // What was deleted comes back without its attributes.
        fields = Self.changed(old, new)
        fields["value"] = new["value"]
      // One that is not there is not deleted.
      case "attr":
        fields = Self.changed(old, new)
        for (key, text) in set { fields["attr:" + key] = text.hexadecimalDigits }
      case "mv": fields = ["name": (after ?? name).hexadecimalDigits]
      case "restore", "keep":
        fields = Self.changed(old, new)
        fields["value"] = new["value"]
      default: break
      }
    } else if let before {
      id = before.id
    } else {
      return
    }
    let isNew = items.insert(id).inserted || before?.id != id
    if isNew, word == "put" { fields["name"] = name.hexadecimalDigits }
    let held = before?.id == id ? before! : HeldItem(id)
    let now = try vault.held(id, at: after ?? name)
    if before?.id == id { fields["at"] = name.hexadecimalDigits }
    let sets = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    try add(isNew ? "new" : word, held, now, machine, sets)
  }

  private mutating func add(
    _ word: String, _ before: HeldItem, _ now: HeldItem, _ machine: Int, _ sets: String
  ) throws {
    let fresh = now.revisions.filter { !before.ids.contains($0.id) }
    // What was asked for stood there already.
    guard let stamp = fresh.first else { return }
    try #require(fresh.count == 1, "a change makes one revision")
    add(
      "change \(machine) \(now.id.hexadecimal) \(word) \(stamp.id.hexadecimal)"
        + " \(stamp.depth) \(stamp.entry.device.hexadecimal).\(machine).\(lives[machine] ?? 0):\(stamp.entry.counter)"
        + " \(before.text)\(sets)")
  }

  /// Does something to the slots, and notes which of them came by it and which ended.
  mutating func noteSlots(
    on machine: Int, in vault: inout UnlockedVault, _ body: (inout UnlockedVault) throws -> Void
  ) throws {
    let before = try vault.standingSlots()
    try body(&vault)
    let after = try vault.standingSlots()
    let epoch = try vault.epoch().hexadecimal
    for id in after.subtracting(before).sorted() { add("slot \(epoch) made \(id.hexadecimal)") }
    for id in before.subtracting(after).sorted() { add("slot \(epoch) ended \(id.hexadecimal)") }
  }

  /// What attributes were set to; a deleted one is nothing.
  private static func changed(_ old: [String: String], _ new: [String: String]) -> [String: String]
  {
    var fields: [String: String] = [:]
    for key in Set(old.keys).union(new.keys) where key.hasPrefix("attr:") {
      if old[key] != new[key] { fields[key] = new[key] ?? "-" }
    }
    return fields
  }

  /// Notes all that a machine has.
  mutating func end(_ machine: Int, _ vault: inout UnlockedVault) throws {
    add("machine \(machine)")
    var found: [ItemID: String] = [:]
    for name in try vault.names(includingDeleted: true) {
      if let held = try vault.heldItem(name) { found[held.id] = name }
    }
    for id in items.union(found.keys).sorted() {
      let held = try vault.held(id, at: found[id])
      if !held.revisions.isEmpty { add("item \(id.hexadecimal) \(held.text)") }
      guard let name = found[id] else { continue }
      let fields = try vault.shownFields(name)
      let attributes = fields.filter { $0.key.hasPrefix("attr:") }.sorted { $0.key < $1.key }
      add(
        "shown \(id.hexadecimal) \(name.hexadecimalDigits) \(fields["kind"]!) \(fields["class"]!)"
          + " \(fields["value"] ?? "-")"
          + attributes.map { " \($0.key.dropFirst(5))=\($0.value)" }.joined())
      for line in try vault.conflictLines(of: name) { add("conflict \(id.hexadecimal) \(line)") }
    }
    let slots = try vault.standingSlots().sorted().map(\.hexadecimal).joined(separator: ",")
    add("slots \(try vault.epoch().hexadecimal) \(slots)")
    for setting in vault.keys.ring.ledger?.settings ?? [] {
      guard let key = Setting(rawValue: setting.key) else { continue }
      let sides = setting.sides.map { "\($0.lineage.stamp.id.hexadecimal)=\($0.value)" }
      add("setting \(setting.key) \(vault.policy[key]) \(sides.joined(separator: ","))")
    }
  }
}

/// Names the revisions that are held of an item.
struct HeldItem {
  let id: ItemID
  var revisions: [RevisionStamp] = []

  init(_ id: ItemID) { self.id = id }

  var ids: Set<RevisionID> { Set(revisions.map(\.id)) }

  var text: String {
    let ids = revisions.map(\.id.hexadecimal).joined(separator: ",")
    return ids.isEmpty ? "-" : ids
  }
}

extension String {
  /// Its bytes as digits; `-` for none.
  var hexadecimalDigits: String {
    let digits = utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return digits.isEmpty ? "-" : digits
  }
}

extension UnlockedVault {
  /// The slots that stand by what all copies say, those that found no room here too.
  fileprivate mutating func standingSlots() throws(VaultError) -> Set<SlotID> {
    guard let ledger = keys.ring.ledger, !ledger.slots.isEmpty else {
      return Set(trust.slots.compactMap(\.id))
    }
    return Set(ledger.slots.standing().map(\.id))
  }

  /// The item that stands under a name; nil for none.
  mutating func heldItem(_ name: String) throws(VaultError) -> HeldItem? {
    let bytes = Array(name.utf8)
    let tag = try tag(of: bytes.span)
    let found = try reading { vault throws(VaultError) -> ItemCopy? in
      guard
        let leaf = try vault.rows.tree.leaf(
          of: tag, under: vault.trust.root, in: &vault.rows.storage, vault.keys)
      else { return nil }
      return try vault.rows.itemCopy(tag, leaf: leaf, vault.keys)
    }
    guard let copy = found, let current = copy.current else { return nil }
    var held = HeldItem(current.facts.id)
    held.revisions = copy.rows.filter(\.isRevision).map(\.stamp)
    try addTrace(to: &held)
    return held
  }

  private mutating func addTrace(to held: inout HeldItem) throws(VaultError) {
    let id = held.id
    let trace = try reading { vault throws(VaultError) in
      try vault.rows.purgeTrace(of: id, under: vault.trust.root, vault.keys)
    }
    guard let trace else { return }
    held.revisions += trace.purges.map(\.lineage.stamp)
  }

  /// What is held of an item.
  ///
  /// - Parameter name: Where it stands; nil where nothing is left but that it was purged.
  mutating func held(_ id: ItemID, at name: String?) throws(VaultError) -> HeldItem {
    if let name, let found = try heldItem(name), found.id == id { return found }
    var held = HeldItem(id)
    try addTrace(to: &held)
    return held
  }

  /// What everybody can see of an item, as digits; nothing of one that is not there.
  mutating func shownFields(_ name: String) throws -> [String: String] {
    var fields: [String: String] = [:]
    var listing = listing(includingDeleted: true)
    while let item = try listing.next(in: &self) {
      guard text(of: item.name) == name else { continue }
      fields["kind"] = item.isDeleted ? "deleted" : "live"
      fields["class"] = item.isProtected ? "protected" : "standard"
      var cursor = item.attributes.makeCursor()
      while cursor.advance() {
        fields["attr:" + text(of: cursor.key)] = text(of: cursor.value).hexadecimalDigits
      }
      if item.isDeleted { return fields }
      let value = try item.isProtected ? openedText(name) : getText(name)
      fields["value"] = value.hexadecimalDigits
      return fields
    }
    return fields
  }

  /// Each conflict of an item as `PART TEXT`.
  fileprivate mutating func conflictLines(of name: String) throws -> [String] {
    var found: [(part: ConflictPart, text: String, revision: UInt64)] = []
    let bytes = Array(name.utf8)
    do throws(VaultError) {
      try eachConflict(of: bytes.span) { conflict throws(VaultError) in
        found.append((conflict.part, text(of: conflict.text.bytes), conflict.revision))
      }
    } catch { guard error == .notFound else { throw error } }
    return try found.map { conflict in
      switch conflict.part {
      case .value:
        let value = try self.value(bytes.span, revision: conflict.revision, with: openedKey())
        return "value \(text(of: value.bytes).hexadecimalDigits)"
      case .name: return "name \(try self.name(name, at: conflict.revision).hexadecimalDigits)"
      case .attribute: return "attribute \(conflict.text.hexadecimalDigits)"
      case .deletion: return "deletion -"
      case .purge: return "purge -"
      case .place: return "place \(conflict.text.hexadecimalDigits)"
      }
    }
  }

  private mutating func openedKey() throws(VaultError) -> ProtectedKey? {
    try protectedKey(from: try owner().key)
  }

  /// The name that an item had at a revision.
  private mutating func name(_ name: String, at number: UInt64) throws(VaultError) -> String {
    let bytes = Array(name.utf8)
    let tag = try tag(of: bytes.span)
    return try reading { vault throws(VaultError) in
      guard
        let leaf = try vault.rows.tree.leaf(
          of: tag, under: vault.trust.root, in: &vault.rows.storage, vault.keys),
        let row = try vault.rows.itemCopy(tag, leaf: leaf, vault.keys).rows
          .first(where: { $0.facts.revision == number })
      else { return "" }
      return try row.withName { name throws(VaultError) in text(of: name) }
    }
  }
}
