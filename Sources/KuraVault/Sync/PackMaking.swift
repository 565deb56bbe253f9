// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Names an item that has something for other copies, and where it stands.
public struct PackableItem: Sendable {
  let id: ItemID
  /// Where it stands; nil where all of it was purged.
  let tag: ItemTag?
}

/// Says how much of a vault other copies have already, and so what goes into packs.
public struct PackCoverage: Sendable {
  /// Room for what stands in a pack beside items: its seal, settings and slots.
  static let reservedByteCount = 262_144

  /// The changes that they have; nil for none at all, so that everything goes out, what format 1 left too.
  public let covered: RevisionVector?
  /// Further changes of others that stand in the writer's own packs.
  let vouched: CounterRuns
  /// Whose packs are sealed anew, so that what they have goes out and not what is news; nil for what is news.
  let keeper: DeviceID?
  /// Whether others keep what was written in format 1.
  let leavesOld: Bool
  /// Long values that others are about to lose, so that the rows with them are news again.
  let values: Set<ValueID>

  /// Nothing is there yet.
  public static let nothing = PackCoverage(covered: nil)

  /// - Parameter covered: The changes that others have.
  public init(covered: RevisionVector?) {
    self.init(covered: covered, vouched: CounterRuns(), values: [])
  }

  init(covered: RevisionVector?, vouched: CounterRuns, values: Set<ValueID>) {
    (self.covered, self.vouched, self.values) = (covered, vouched, values)
    (keeper, leavesOld) = (nil, false)
  }

  init(
    covered: RevisionVector, vouched: CounterRuns, keptBy keeper: DeviceID, leavingOld: Bool
  ) {
    (self.covered, self.vouched, self.keeper, values) = (covered, vouched, keeper, [])
    leavesOld = leavingOld
  }

  /// Whether a revision of an item goes out.
  ///
  /// What was written in format 1 has no device that counts: it goes out with all that is sealed anew, or beside what is
  /// news.
  func wants(_ stamp: RevisionStamp, of item: ItemID) throws(VaultError) -> Bool {
    guard covered != nil else { return true }
    return wants(stamp.entry, isOld: try PackCoverage.isOld(stamp, of: item))
  }

  /// The same of a change of which it is known whether it was made in format 1.
  func wants(_ entry: RevisionEntry, isOld: Bool) -> Bool {
    guard covered != nil else { return true }
    return isOld ? keeper != nil && !leavesOld : wants(entry)
  }

  /// Whether a revision of an item was made in format 1.
  static func isOld(_ stamp: RevisionStamp, of item: ItemID) throws(VaultError) -> Bool {
    let device = stamp.entry.device
    return try device == fromFormat(.item, DeviceID.ofOldRevisions(of: item))
      || device.bytes == stamp.id.bytes
  }

  /// Whether a change goes out.
  func wants(_ entry: RevisionEntry) -> Bool {
    guard let covered else { return true }
    let isVouched = vouched.contains(entry)
    let isNews = !covered.covers(entry) && !isVouched
    guard let keeper else { return isNews }
    return !isNews && (isVouched || entry.device == keeper)
  }

  /// Whether an earlier pack of the writer has a change that this one is not for.
  func isOut(_ entry: RevisionEntry, of own: DeviceID?) -> Bool {
    covered != nil && keeper == nil && (entry.device == own || vouched.contains(entry))
  }
}

/// Says what came of putting an item into a pack.
public enum PackStep: Equatable, Sendable {
  /// It is in the pack, or has nothing that is news.
  case isIn
  /// There is no room for it: it goes into the next one.
  case isFull
  /// Nobody could find these values of it: their pieces come first.
  case lacksPieces([ValueID])
}

// MARK: - What has changed

extension UnlockedVault {
  /// The items that have something which other copies have not, ascending by their ids.
  ///
  /// - Throws: ``VaultError/takesNewFormat`` for a vault of format 1, which tells of no change; ``VaultError/damaged(_:)``.
  public mutating func packableItems(
    beyond coverage: PackCoverage
  ) throws(VaultError) -> [PackableItem] {
    guard format > .first else { throw .takesNewFormat }
    return try reading { vault throws(VaultError) in
      try vault.walkItems().packable(beyond: coverage)
    }
  }

  /// Where some items stand, whose changes are known to be news.
  ///
  /// - Returns: Nil where the file does not have them all: only a walk tells then.
  mutating func packableItems(of ids: Set<ItemID>) throws(VaultError) -> [PackableItem]? {
    let ids = ids.subtracting([.zero])
    guard !ids.isEmpty else { return [] }
    return try reading { vault throws(VaultError) -> [PackableItem]? in
      var places: [(id: ItemID, tag: ItemTag)] = []
      try fromStorage(vault.rows.storage.scanItems(from: Span()))
      while let row = try vault.rows.storage.nextRow() {
        let id = ItemID(row.id)
        if ids.contains(id) { places.append((id, ItemTag(row.tag))) }
      }
      var found: [ItemID: PackableItem] = [:]
      for (id, tag) in places {
        let isTrace = try vault.keys.tag(ofPurged: id) == tag
        if isTrace, found[id] != nil { continue }
        found[id] = PackableItem(id: id, tag: isTrace ? nil : tag)
      }
      guard found.count == ids.count else { return nil }
      return found.values.sorted { $0.id < $1.id }
    }
  }

  /// Where an item stands now: it may have got another name, and another item its former one, since it was found.
  private mutating func standing(of item: PackableItem) throws(VaultError) -> PackableItem {
    if let tag = item.tag {
      let leaf = try rows.tree.leaf(of: tag, under: trust.root, in: &rows.storage, keys)
      if let leaf, try rows.look(at: tag, leaf: leaf, keys).id == item.id { return item }
    }
    var tags: [ItemTag] = []
    try fromStorage(rows.storage.scanItems(from: Span()))
    while let row = try rows.storage.nextRow() {
      if ItemID(row.id) == item.id { tags.append(ItemTag(row.tag)) }
    }
    let trace = try keys.tag(ofPurged: item.id)
    guard !tags.isEmpty else { throw .damaged(.item) }
    return PackableItem(id: item.id, tag: tags.first { $0 != trace })
  }
}

// MARK: - What goes out

extension UnlockedVault {
  /// Adds an item to a pack: its rows that are news, and those without which a content would stand that no row has.
  ///
  /// - Parameters:
  ///   - item: One that was found in this state of the vault, the next one by its id.
  ///   - coverage: As it was found.
  ///   - writer: Gets it.
  ///   - limit: How many bytes the pack may have with it.
  ///   - known: Says where others find long values.
  /// - Returns: Whether it is in the pack; where nothing of it is news, nothing is added.
  /// - Throws: ``VaultError/damaged(_:)``, ``VaultError/notFound`` when it is gone.
  public mutating func pack(
    _ item: PackableItem, beyond coverage: PackCoverage, into writer: inout PackWriter,
    upTo limit: Int, at known: [ValueID: PackedValue]
  ) throws(VaultError) -> PackStep {
    var runs = CounterRuns()
    return try pack(
      item, beyond: coverage, into: &writer, upTo: limit, at: known, noting: &runs)
  }

  private var own: DeviceID? { trust.root.copy?.device }

  /// The same; `runs` gets the changes of others that are news and go out.
  mutating func pack(
    _ item: PackableItem, beyond coverage: PackCoverage, into writer: inout PackWriter,
    upTo limit: Int, at known: [ValueID: PackedValue], noting runs: inout CounterRuns
  ) throws(VaultError) -> PackStep {
    let copy = try reading { vault throws(VaultError) in
      let item = try vault.standing(of: item)
      return try vault.item(item.id, item.tag, CopyDifference(of: [], at: []))
    }
    guard let copy else { throw .notFound }
    var rows = try PackedItemRows(copy, of: item.id, by: own, beyond: coverage)
    // What no pack could hold stays here: earlier revisions are each copy's own.
    if writer.isEmpty { try rows.cut(to: limit - writer.byteCount, at: known) }
    guard rows.count > 0 else { return .isIn }
    let values = try rows.longValues()
    let unknown = values.filter { known[$0] == nil }
    guard unknown.isEmpty else { return .lacksPieces(unknown) }
    guard try writer.byteCount + rows.byteCount(at: known) <= limit else { return .isFull }
    for value in values.compactMap({ known[$0] }) { writer.add(value) }
    try rows.append(to: &writer)
    for entry in rows.wanted where coverage.keeper == nil && entry.device != own {
      runs.insert(entry)
    }
    return .isIn
  }

  /// Adds the settings that have changes, and the slot table, to a pack behind its items.
  ///
  /// - Throws: ``VaultError/outOfMemory``.
  public mutating func packLedger(
    beyond coverage: PackCoverage, into writer: inout PackWriter
  ) throws(VaultError) {
    var runs = CounterRuns()
    try packLedger(beyond: coverage, into: &writer, noting: &runs)
  }

  /// The same; `runs` gets the changes of others that are news and go out.
  mutating func packLedger(
    beyond coverage: PackCoverage, into writer: inout PackWriter, noting runs: inout CounterRuns
  ) throws(VaultError) {
    guard let ledger = keys.ring.ledger else { return }
    func isNews(_ lineages: [Lineage]) -> Bool {
      let wanted = lineages.map(\.stamp.entry).filter(coverage.wants)
      for entry in wanted where coverage.keeper == nil && entry.device != own {
        runs.insert(entry)
      }
      return !wanted.isEmpty
    }
    for setting in ledger.settings where !SettingSides.stays(setting.key) {
      guard isNews(setting.sides.map(\.lineage)) else { continue }
      try fromFormat(.ring, writer.add(setting))
    }
    guard !ledger.slots.isEmpty, isNews(ledger.slots.map(\.lineage)) else { return }
    try fromFormat(.ring, writer.add(ledger.slots))
    let notes = try notes(of: ledger.slots)
    if !notes.all.isEmpty { try fromFormat(.ring, writer.add(notes)) }
  }
}

/// Holds the rows of an item that go into a pack.
struct PackedItemRows {
  /// How many bytes of others' rows go along with an item.
  private static let mostBeside = 8_192

  let item: ItemID
  /// Ascending by their stamps.
  private(set) var revisions: [OpenedRow]
  /// Those without which a content would stand that no row has.
  private let needed: Set<RevisionID>
  /// The changes that it is in the pack for.
  let wanted: [RevisionEntry]
  private let trace: PurgeTrace?

  init(
    _ copy: ItemCopy, of item: ItemID, by own: DeviceID?, beyond coverage: PackCoverage
  ) throws(VaultError) {
    self.item = item
    let all = copy.rows.filter(\.isRevision)
    var table = try ContentTable()
    for row in all { try table.add(row) }
    let history = try table.history(of: copy.rows, copy.trace)
    var wanted: Set<RevisionID> = []
    for revision in history.revisions where try coverage.wants(revision.stamp, of: item) {
      wanted.insert(revision.stamp.id)
    }
    var news = wanted
    // Who has the earlier ones has them protected, and could not open them.
    if history.revisions.contains(where: { wanted.contains($0.stamp.id) && $0.unprotects }) {
      wanted.formUnion(history.revisions.map(\.stamp.id))
    }
    let standing = Set(history.pruned(to: 0).revisions.map(\.stamp.id))
    if !coverage.values.isEmpty {
      // History is each copy's own: nobody needs the values of that.
      for row in all where standing.contains(row.stamp.id) {
        if let value = try row.valueID(), coverage.values.contains(value) {
          wanted.insert(row.stamp.id)
          news.insert(row.stamp.id)
        }
      }
    }
    self.wanted = history.revisions.map(\.stamp).filter { news.contains($0.id) }.map(\.entry)
    guard !wanted.isEmpty else {
      (revisions, needed, trace) = ([], [], nil)
      return
    }
    needed = standing
    wanted.formUnion(needed)
    let out = history.revisions.filter { revision in
      !news.contains(revision.stamp.id) && coverage.isOut(revision.stamp.entry, of: own)
    }
    wanted.formUnion(try Self.unfollowed(all, by: out.sides, but: wanted))
    revisions = all.filter { wanted.contains($0.stamp.id) }.sorted { $0.stamp < $1.stamp }
    trace = copy.trace
  }

  /// Rows that none which is out follows, the latest of them up to 8 KiB: once what follows them is there, nobody takes
  /// them. Nobody waits for a long value of an earlier revision.
  private static func unfollowed(
    _ rows: [OpenedRow], by out: [HeldRevision], but wanted: Set<RevisionID>
  ) throws(VaultError) -> Set<RevisionID> {
    var (found, room): (Set<RevisionID>, Int) = ([], mostBeside)
    for row in rows.sorted(by: { $0.stamp > $1.stamp }) where !wanted.contains(row.stamp.id) {
      let lineage = row.trail.lineage
      let isKnown = out.contains { $0.stamp.id == row.stamp.id || $0.lineage.follows(lineage) }
      guard !isKnown, try row.valueID() == nil else { continue }
      room -= row.byteCount
      guard room >= 0 else { break }
      found.insert(row.stamp.id)
    }
    return found
  }

  var count: Int { revisions.count + (trace == nil ? 0 : 1) }

  /// Leaves out the earliest that nothing needs, until the rest has room with what is known of its long values.
  mutating func cut(to limit: Int, at known: [ValueID: PackedValue]) throws(VaultError) {
    while try byteCount(at: known) > limit,
      let place = revisions.firstIndex(where: { !needed.contains($0.stamp.id) })
    {
      revisions.remove(at: place)
    }
  }

  /// How many bytes they have at the most, with where their long values are.
  func byteCount(at known: [ValueID: PackedValue]) throws(VaultError) -> Int {
    try longValues().reduce(byteCount) { $0 + (known[$1]?.byteCount ?? 0) }
  }

  private var byteCount: Int {
    let rows = revisions.reduce(0) { $0 + 32 + $1.byteCount }
    // A trace knows of at most 512 devices and 64 purges.
    return 64 + rows + (trace == nil ? 0 : 2 * RevisionVector.mostEntries * 24 * 66)
  }

  /// The long values of its rows, each once.
  func longValues() throws(VaultError) -> [ValueID] {
    var values: Set<ValueID> = []
    for row in revisions {
      if let value = try row.valueID() { values.insert(value) }
    }
    return values.sorted()
  }

  func append(to writer: inout PackWriter) throws(VaultError) {
    try fromFormat(
      .item, writer.add(item: item, purged: trace?.covered ?? RevisionVector(), rows: count))
    var isTraceLeft = trace != nil
    for row in revisions {
      if isTraceLeft, let stamp = trace?.stamp, stamp < row.stamp {
        try appendTrace(to: &writer)
        isTraceLeft = false
      }
      try row.lend { facts, meta, body throws(VaultError) in
        try fromFormat(
          .item,
          writer.add(
            row: meta.view.hasTrail ? 0 : facts.revision, facts.protection, facts.kind,
            meta: meta.encoded, body: body))
      }
    }
    if isTraceLeft { try appendTrace(to: &writer) }
  }

  private func appendTrace(to writer: inout PackWriter) throws(VaultError) {
    try trace?.lend { protection, meta, body throws(VaultError) in
      try fromFormat(
        .item, writer.add(row: 0, protection, .purged, meta: meta.encoded, body: body))
    }
  }
}

extension OpenedRow {
  /// How many bytes meta and body have, at the most.
  var byteCount: Int { OpenedRow.byteCount(meta, body) }

  private static func byteCount(_ meta: borrowing ItemMeta, _ body: borrowing PartedBody) -> Int {
    var count = meta.encoded.count + 5 + body.value.count
    switch body.secrets {
    case .some(let secrets): count += secrets.encoded.count
    case .none: break
    }
    return count
  }

  /// Lends meta and body as they are sealed in a vault.
  fileprivate func lend(
    to look: (RowFacts, borrowing ItemMeta, Span<UInt8>) throws(VaultError) -> Void
  ) throws(VaultError) {
    try OpenedRow.lend(facts, meta, body, to: look)
  }

  private static func lend(
    _ facts: RowFacts, _ meta: borrowing ItemMeta, _ body: borrowing PartedBody,
    to look: (RowFacts, borrowing ItemMeta, Span<UInt8>) throws(VaultError) -> Void
  ) throws(VaultError) {
    switch body.secrets {
    case .some(let secrets):
      let joined = try fromFormat(.item, BodyParts.join(body.value.bytes, secrets.encoded.bytes))
      try look(facts, meta, joined.bytes)
    case .none: try look(facts, meta, body.value.bytes)
    }
  }
}
