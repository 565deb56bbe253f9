// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds the items of a pack, opened: a copy of the vault that has these items, and of each what it says.
struct CopyPack {
  private(set) var items: [ItemID: ItemCopy] = [:]
  /// Where the items would stand by their names.
  private(set) var tags: Set<ItemTag> = []
  /// In which pieces the long values of the rows are.
  let values: [ValueID: PackedValue]
  /// What it has of settings and slots.
  private(set) var ledger = CopyLedger(machine: .zero)
  /// What it notes of slots.
  private(set) var notes = SlotNotes()
  /// What is to be left out of the items; nil for a pack, which has some to take.
  var late: LateChanges?
  /// The devices whose former id is a third machine's for who wrote the pack, and has some of their changes in common.
  var goingOn: Set<DeviceID> = []
  /// Whether names are placed again, wherever they may be free.
  private(set) var placesNames = false

  /// Reads a pack, and holds each row against what a row of a vault has to be.
  ///
  /// - Throws: ``VaultError/damaged(_:)`` for what no vault has.
  init(_ pack: PackView, _ keys: borrowing Keyring) throws(VaultError) {
    values = Dictionary(pack.values.map { ($0.value, $0) }, uniquingKeysWith: { first, _ in first })
    for record in pack.records {
      switch record {
      case .item(let id, let purged, let rows): try add(id, purged, rows, pack, keys)
      case .setting(let sides): ledger.settings.append(sides)
      case .slots(let sides): ledger.slots = sides
      case .notes(let notes): self.notes = notes
      }
    }
  }

  /// The same without the items that have a long value in some row: they wait until it is here.
  func leaving(_ value: ValueID) throws(VaultError) -> CopyPack {
    var rest = self
    for (id, item) in items {
      for row in item.rows where try row.valueID() == value { rest.items[id] = nil }
    }
    return rest
  }

  /// Nothing of some items, which are to lose what is late.
  init(of items: [ItemID], without late: LateChanges) {
    for item in items { self.items[item] = ItemCopy() }
    (values, self.late) = ([:], late)
  }

  /// Nothing at all: what is here gets the names that it has where all was just brought together.
  static func placingNames() -> CopyPack {
    var pack = CopyPack()
    pack.placesNames = true
    return pack
  }

  private init() { values = [:] }

  /// Leaves out what devices changed beyond the last change of theirs that counts, but where something else would be lost
  /// with it.
  mutating func bar(_ barred: [DeviceID: UInt64]) throws(VaultError) {
    guard !barred.isEmpty else { return }
    let late = LateChanges(barred, followedBy: RevisionVector())
    for (id, item) in items {
      var table = try ContentTable()
      for row in item.rows { try table.add(row) }
      guard let rest = try late.unordered(table.history(of: item.rows, item.trace), of: id) else {
        continue
      }
      let kept = Set(rest.revisions.map(\.stamp.id))
      var left = ItemCopy()
      left.rows = item.rows.filter { kept.contains($0.stamp.id) }
      left.trace = late.rest(of: item.trace)
      items[id] = left.rows.isEmpty && left.trace == nil ? nil : left
    }
  }

  /// Leaves out the slot table: the rows of its slots are not here.
  mutating func dropSlots() { ledger.slots = [] }

  /// Adds the slots whose rows stand in a header object.
  mutating func add(_ header: HeaderObject) { ledger.waiting = header.slots }

  private mutating func add(
    _ id: ItemID, _ purged: RevisionVector, _ rows: [PackedRow], _ pack: PackView,
    _ keys: borrowing Keyring
  ) throws(VaultError) {
    var item = ItemCopy()
    var last: RevisionStamp?
    for row in rows {
      let meta = try ItemMeta.read(
        try fromMemory(SecretBytes(copying: pack.meta(of: row))), of: .second)
      let stamp: RevisionStamp?
      if row.kind == .purged {
        guard item.trace == nil, meta.view.fits(row.kind, revision: 1) else {
          throw .damaged(.item)
        }
        let trace = try PurgeTrace.read(id, row.protection, meta, pack.body(of: row))
        item.trace = trace
        stamp = trace.stamp
      } else {
        let opened = try OpenedRow.load(row, of: id, meta, pack.body(of: row), keys)
        if let value = try opened.valueID(), values[value] == nil { throw .damaged(.item) }
        item.rows.append(opened)
        tags.insert(opened.facts.tag)
        stamp = opened.stamp
      }
      guard let stamp, last.map({ $0 < stamp }) ?? true else { throw .damaged(.item) }
      last = stamp
    }
    guard item.trace?.covered ?? RevisionVector() == purged else { throw .damaged(.item) }
    items[id] = item
  }
}

extension OpenedRow {
  /// Reads a row of a pack.
  static func load(
    _ row: PackedRow, of item: ItemID, _ meta: borrowing ItemMeta, _ body: Span<UInt8>,
    _ keys: borrowing Keyring
  ) throws(VaultError) -> OpenedRow {
    var facts = RowFacts(
      tag: try keys.tag(of: meta), id: item, revision: max(row.number, 1), generation: 0,
      protection: row.protection, kind: row.kind)
    guard body.count <= BodyParts.longest, meta.view.fits(row.kind, revision: facts.revision)
    else { throw .damaged(.item) }
    // A value that was sealed for a number has that of wherever it was put, unless the row has a number itself.
    if row.number == 0 { facts.revision = RevisionEntry.counters.upperBound }
    let copy = try fromMemory(SecretBytes(copying: body))
    let isSound = try keys.check(opened: copy, meta, facts).isSound
    guard isSound else { throw .damaged(.item) }
    facts.revision = max(row.number, 1)
    return try OpenedRow.make(facts, meta, body)
  }
}

// MARK: - Where its items stand here

extension UnlockedVault {
  /// Where items of a pack stand here, and what the tree has there: by their names as far as they have the same ones,
  /// else wherever the file says, for which nobody vouches.
  mutating func places(of pack: CopyPack) throws(VaultError) -> [(tag: ItemTag, leaf: Digest)] {
    var places: [(tag: ItemTag, leaf: Digest)] = []
    var missing = Set(pack.items.keys)
    for tag in pack.tags { try find(&missing, at: tag, &places) }
    guard !missing.isEmpty else { return places }
    for tag in try tags(of: missing) { try find(&missing, at: tag, &places) }
    return places
  }

  private mutating func find(
    _ missing: inout Set<ItemID>, at tag: ItemTag, _ places: inout [(tag: ItemTag, leaf: Digest)]
  ) throws(VaultError) {
    guard let leaf = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
    else { return }
    let found = try rows.look(at: tag, leaf: leaf, keys)
    guard found.kind != .purged, missing.remove(found.id) != nil else { return }
    places.append((tag, leaf))
  }

  private mutating func tags(of items: Set<ItemID>) throws(VaultError) -> [ItemTag] {
    var tags: [ItemTag] = []
    try fromStorage(rows.storage.scanItems(from: Span()))
    while let row = try rows.storage.nextRow() {
      if items.contains(ItemID(row.id)) { tags.append(ItemTag(row.tag)) }
    }
    return tags
  }
}
