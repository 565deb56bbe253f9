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
    ItemNaming.name([folder] + entry.folders.map { ItemNaming.part($0) } + [title(entry)])
  }

  private func title(_ entry: SourceEntry) -> String {
    let host = entry.urls.first.map { ItemNaming.host($0) } ?? []
    for text in [entry.title, host, entry.user] {
      let part = ItemNaming.part(text)
      if !part.isEmpty { return part }
    }
    return "unnamed"
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
    let written = entry.title.isEmpty ? [] : entry.title
    if !written.isEmpty, ItemNaming.part(written) != String(decoding: written, as: UTF8.self) {
      leave(entry, name, "", .renamed(name))
    }
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
    var (notes, seed) = (entry.notes, entry.seed)
    if let value = entry.value {
      main.value = value
    } else if !notes.isEmpty {
      (main.value, main.field) = (notes, "notes")
      notes = []
    } else if !seed.isEmpty, let uri = SeedURI.make(seed, for: name) {
      (main.value, main.field, main.isCode) = (uri, "otp", true)
      seed = []
    }
    func hide(_ label: [UInt8], _ value: [UInt8], isCode: Bool = false) {
      if fields.hide(label, value) { return }
      let part = ItemNaming.part(label)
      beside.append(
        ImportedItem(
          name: ItemNaming.name([name, part.isEmpty ? "field" : part]), value: value,
          isCode: isCode, isProtected: main.isProtected, place: entry.place, field: part))
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
    (main.attributes, main.secrets) = (fields.open, fields.hidden)
    for file in entry.attachments {
      var item = ImportedItem(name: "", value: file.bytes, place: entry.place)
      item.isProtected = main.isProtected
      item.field = ItemNaming.part(file.name)
      item.name = ItemNaming.name([name, "attachments", item.field.isEmpty ? "file" : item.field])
      beside.append(item)
    }
    var kept: [ImportedItem] = []
    for var item in [main] + beside where keeps(item, of: entry, name) {
      (item.created, item.modified) = (entry.created, entry.modified)
      kept.append(item)
    }
    return kept
  }

  /// Whether an item is short enough; it is told of where it is not.
  private mutating func keeps(_ item: ImportedItem, of entry: SourceEntry, _ name: String) -> Bool {
    if item.value.count <= ImportedItem.longest { return true }
    leave(entry, name, item.field, .remark(.tooLong))
    return false
  }
}
