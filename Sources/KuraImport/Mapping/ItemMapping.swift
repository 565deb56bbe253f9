// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Turns entries of other programs into items, as kura-import(1) has it under MAPPING.
struct ItemMapping {
  /// What stands in front of each name; empty: nothing.
  private let folder: String
  private(set) var items: [ImportedItem] = []
  private(set) var leavings: [Leaving] = []
  /// Names that are taken, and by which of the items.
  private var taken: [String: Int] = [:]
  /// Names that entries share which different users have.
  private var shared: Set<String> = []

  private init(into folder: String) { self.folder = folder }

  /// Maps all that was read of a source.
  ///
  /// - Parameter folder: As it is given with `--into`.
  static func map(
    _ answer: AnswerReader.Answer, into folder: String = ""
  ) -> (items: [ImportedItem], leavings: [Leaving]) {
    var mapping = ItemMapping(into: folder)
    mapping.findShared(answer.entries)
    for entry in answer.entries { mapping.add(entry) }
    for remark in answer.remarks {
      mapping.leavings.append(
        Leaving(
          place: 0, entry: "", field: ItemNaming.part(remark.field),
          reason: .remark(remark.reason)))
    }
    return (mapping.items, mapping.leavings)
  }

  // MARK: - Names

  private func baseName(_ entry: SourceEntry) -> String {
    ItemNaming.name(
      [folder] + entry.folders.map { ItemNaming.part($0) } + [ItemNaming.part(title(entry))])
  }

  /// What an entry is called there, or else what it is about.
  private func title(_ entry: SourceEntry) -> [UInt8] {
    let host = entry.urls.first.map { ItemNaming.host($0) } ?? []
    for text in [entry.title, host, entry.user] where !ItemNaming.part(text).isEmpty { return text }
    return Array("unnamed".utf8)
  }

  /// Whether a name has other words than the source.
  private func isChanged(_ name: String, of entry: SourceEntry) -> Bool {
    let user = shared.contains(baseName(entry)) ? entry.user : []
    let parts = [Array(folder.utf8)] + entry.folders + [title(entry), user]
    return !name.utf8.elementsEqual(
      parts.filter { !$0.isEmpty }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Entries of one name that have different users are told apart by those.
  private mutating func findShared(_ entries: [SourceEntry]) {
    var users: [String: Set<[UInt8]>] = [:]
    for entry in entries where !entry.manner.contains(.own) && !entry.manner.contains(.trashed) {
      users[baseName(entry), default: []].insert(entry.user)
    }
    shared = Set(users.filter { $0.value.count > 1 }.keys)
  }

  private func name(of entry: SourceEntry) -> String {
    let base = baseName(entry)
    guard shared.contains(base) else { return base }
    return ItemNaming.name([base, ItemNaming.part(entry.user)])
  }

  // MARK: - Entries

  private mutating func add(_ entry: SourceEntry) {
    if entry.manner.contains(.own) { return addOwn(entry) }
    let name = name(of: entry)
    guard !entry.manner.contains(.trashed) else {
      return leave(entry, name, "", .remark(.trashed))
    }
    for remark in entry.left {
      leave(entry, name, ItemNaming.part(remark.field), .remark(remark.reason))
    }
    if entry.manner.contains(.unread) { return }
    if isChanged(name, of: entry) { leave(entry, name, "", .renamed(name)) }
    store(parts(of: entry, name), of: entry, name)
  }

  /// Stores what became of an entry under the first name that is free; what is there in the same form is not stored
  /// again.
  private mutating func store(_ parts: [ImportedItem], of entry: SourceEntry, _ name: String) {
    var (number, base) = (1, name)
    while let index = taken[base] {
      if isSame(parts, from: index, name, as: base) { return leave(entry, name, "", .twice) }
      number += 1
      base = "\(name) (\(number))"
    }
    for part in parts {
      var part = part
      part.name = base + part.name.dropFirst(name.count)
      append(part)
    }
  }

  private mutating func append(_ item: ImportedItem) {
    var item = item
    var (number, wanted) = (1, item.name)
    while taken[wanted] != nil {
      number += 1
      wanted = "\(item.name) (\(number))"
    }
    item.name = wanted
    taken[wanted] = items.count
    items.append(item)
  }

  private func isSame(
    _ parts: [ImportedItem], from index: Int, _ name: String, as base: String
  ) -> Bool {
    guard index + parts.count <= items.count else { return false }
    for (offset, part) in parts.enumerated() {
      var there = items[index + offset]
      guard there.name == base + part.name.dropFirst(name.count) else { return false }
      (there.name, there.place) = (part.name, part.place)
      guard there == part else { return false }
    }
    let next = index + parts.count
    return next == items.count || items[next].place != items[index].place
  }

  private mutating func addOwn(_ entry: SourceEntry) {
    let given = String(decoding: entry.title, as: UTF8.self)
    let name = folder.isEmpty ? given : folder + "/" + given
    var item = ImportedItem(name: name, value: entry.value ?? [], place: entry.place)
    for field in entry.fields {
      let pair = ImportedItem.Pair(key: field.key, value: field.value)
      if field.isSecret { item.secrets.append(pair) } else { item.attributes.append(pair) }
    }
    item.isCode = entry.manner.contains(.code)
    item.isProtected = entry.manner.contains(.protected)
    item.isDeleted = entry.manner.contains(.deleted)
    (item.created, item.modified) = (entry.created, entry.modified)
    item.field = "value"
    for remark in entry.left {
      leave(entry, name, ItemNaming.part(remark.field), .remark(remark.reason))
    }
    guard item.value.count <= ImportedItem.longest else {
      return leave(entry, name, "value", .remark(.tooLong))
    }
    guard item.modified != 0, let index = taken[name], items[index].modified != 0 else {
      return store([item], of: entry, name)
    }
    // A further revision of the same item.
    var before = items[index]
    item.earlier = before.earlier
    before.earlier = []
    item.earlier.append(before)
    item.isWhole = true
    items[index] = item
  }

  private mutating func leave(
    _ entry: SourceEntry, _ name: String, _ field: String, _ reason: Leaving.Reason
  ) {
    leavings.append(Leaving(place: entry.place, entry: name, field: field, reason: reason))
  }
}

// MARK: - Fields

extension ItemMapping {
  /// The items that an entry becomes: itself, and what it cannot hold beside it.
  private mutating func parts(of entry: SourceEntry, _ name: String) -> [ImportedItem] {
    var main = ImportedItem(name: name, value: [], place: entry.place, field: "password")
    main.history = entry.history
    main.isProtected = entry.manner.contains(.protected)
    var fields = ItemFields(of: entry)
    var beside: [ImportedItem] = []
    let (notes, seed) = setValue(of: &main, from: entry)
    func hide(_ label: [UInt8], _ value: [UInt8], isCode: Bool = false) {
      if fields.hide(label, value) { return }
      let part = ItemNaming.part(label)
      let item = ImportedItem(
        name: ItemNaming.name([name, part.isEmpty ? "field" : part]), value: value,
        isCode: isCode, isProtected: main.isProtected, place: entry.place, field: part)
      beside.append(item)
      tell(of: item, [label], entry, name)
    }
    if !seed.isEmpty {
      let uri = SeedURI.make(seed, for: name)
      if uri == nil { leave(entry, name, "otp", .remark(.noCode)) }
      // Of what stands under "otp" the agent makes codes.
      hide(Array((uri == nil ? "otp-2" : "otp").utf8), uri ?? seed, isCode: uri != nil)
    }
    if !notes.isEmpty { hide(Array("notes".utf8), notes) }
    for field in entry.fields where !ItemFields.isPublic(field) && !field.value.isEmpty {
      hide(field.key, field.value)
    }
    for field in fields.refused { hide(field.key, field.value) }
    (main.attributes, main.secrets) = (fields.open, fields.hidden)
    for (label, key) in fields.changed {
      leave(entry, name, ItemNaming.part(label), .renamed(String(decoding: key, as: UTF8.self)))
    }
    for file in entry.attachments {
      beside.append(attachment(file, of: main))
      tell(of: beside[beside.count - 1], [Array("attachments".utf8), file.name], entry, name)
    }
    var kept: [ImportedItem] = []
    for var item in [main] + beside where keeps(item, of: entry, name) {
      (item.created, item.modified) = (entry.created, entry.modified)
      kept.append(item)
    }
    return kept
  }

  /// Gives an item the value that its entry has: a password, else notes, else what makes codes.
  ///
  /// - Returns: What is left of notes and seed.
  private func setValue(
    of main: inout ImportedItem, from entry: SourceEntry
  ) -> (notes: [UInt8], seed: [UInt8]) {
    if let value = entry.value {
      main.value = value
    } else if !entry.notes.isEmpty {
      (main.value, main.field) = (entry.notes, "notes")
      return ([], entry.seed)
    } else if !entry.seed.isEmpty, let uri = SeedURI.make(entry.seed, for: main.name) {
      (main.value, main.field, main.isCode) = (uri, "otp", true)
      return ([], [])
    }
    return (entry.notes, entry.seed)
  }

  private func attachment(
    _ file: SourceEntry.Attachment, of main: ImportedItem
  ) -> ImportedItem {
    var item = ImportedItem(name: "", value: file.bytes, place: main.place)
    item.isProtected = main.isProtected
    item.field = ItemNaming.part(file.name)
    item.name = ItemNaming.name(
      [main.name, "attachments", item.field.isEmpty ? "file" : item.field])
    return item
  }

  /// Says what is stored beside an entry under another name than that of the source.
  private mutating func tell(
    of item: ImportedItem, _ parts: [[UInt8]], _ entry: SourceEntry, _ name: String
  ) {
    let written = [Array(name.utf8)] + parts
    guard parts.last?.isEmpty == false,
      !item.name.utf8.elementsEqual(written.joined(separator: [UInt8(ascii: "/")]))
    else { return }
    leave(entry, name, item.field, .renamed(item.name))
  }

  /// Whether an item is short enough; it is told of where it is not.
  private mutating func keeps(_ item: ImportedItem, of entry: SourceEntry, _ name: String) -> Bool {
    if item.value.count <= ImportedItem.longest { return true }
    leave(entry, name, item.field, .remark(.tooLong))
    return false
  }
}
