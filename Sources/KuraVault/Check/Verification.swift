// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Says how far a verification is.
public struct VerifyProgress: Equatable, Sendable {
  /// Items and chunks looked at.
  public let done: UInt64
  /// Items, and the chunks known of so far.
  public let total: UInt64
  /// Things found wrong so far.
  public let findingCount: Int
  /// Whether all was looked at.
  public let isFinished: Bool
}

/// Proves that the whole vault is what its root says: every row is read and opened, every hash is made anew,
/// and nothing may be left over.
///
/// It looks at the vault as it was when it began, through a connection of its own, so that writing goes
/// on meanwhile. Drop it before the vault is locked: until then the WAL cannot be cleared.
public struct Verification: ~Copyable {
  /// Names what is looked at, one after the other.
  enum Phase {
    case items, historyKeys, knownHistory, extraHistory, chunkKeys, buckets, nodes, orphans
    case heads, places, journal, done
  }

  var storage: Storage
  /// The keys as they were then: a rotation may drop some of them meanwhile.
  private let own: SnapshotKeys
  let root: RootRecord
  var tree: IntegrityTree
  var phase = Phase.items
  var findings = FindingQueue()
  /// How much more may be done in this step.
  var budget = 0

  // Items.
  var walk: TreeWalk
  var pendingRow: CheckedRow?
  var isAtLastRow = false
  /// Large values to look at, the one at hand last.
  var pieces: [PieceCheck] = []
  var itemCount: UInt64 = 0
  var deletedCount: UInt64 = 0
  var historyCount: UInt64 = 0
  /// The chunks that the values of all revisions have.
  var values: [ValueID: UInt64] = [:]
  var chunksDone: UInt64 = 0
  var chunksTotal: UInt64 = 0

  // What is left over.
  var lastPair = KeyPair.first
  var lastKey = Int64.min
  var lastOrphan: [UInt8] = []
  /// The ids of the heads that are to be kept.
  var expectedHeads: [DeviceID: HeadID] = [:]
  var lastPlaced: [UInt8] = []
  var journal = JournalScan()
  var keyCount: UInt64 = 0
  var expectedHistory: Set<KeyPair> = []
  var reportedValue: [UInt8] = []

  init(
    _ storage: consuming Storage, _ keys: consuming Keyring, root: RootRecord,
    checks: IntegrityChecks
  ) {
    self.storage = storage
    own = SnapshotKeys(keys)
    self.root = root
    tree = IntegrityTree(checks: checks)
    walk = TreeWalk(depth: root.depth)
  }

  /// How far it is.
  public var progress: VerifyProgress {
    VerifyProgress(
      done: itemCount + chunksDone, total: max(root.itemCount, itemCount) + chunksTotal,
      findingCount: findings.count, isFinished: phase == .done)
  }

  /// The oldest thing found that was not taken yet; nil when there is none.
  public mutating func takeFinding() throws(VaultError) -> Finding? { try findings.take() }
}

/// Holds keys that a walk borrows while it changes everything else of itself.
private final class SnapshotKeys {
  let keys: Keyring

  init(_ keys: consuming Keyring) { self.keys = keys }
}

extension UnlockedVault {
  /// Begins to verify the vault as it is now.
  ///
  /// - Throws: ``VaultError/damaged(_:)`` when schema or root cannot be read at all, and those of the
  ///   file.
  public mutating func beginVerify() throws(VaultError) -> Verification {
    // First of all, what this engine trusts has to be what the file says now.
    try reading { _ throws(VaultError) in }
    return try Verification.begin(try Verification.openSnapshot(place), self)
  }
}

extension Verification {
  /// Begins with a state that somebody holds.
  ///
  /// - Parameters:
  ///   - storage: The vault's file, or a copy of it.
  ///   - vault: The vault that it is of.
  static func begin(
    _ storage: consuming Storage, _ vault: borrowing UnlockedVault
  ) throws(VaultError) -> Verification {
    var snapshot = storage
    let (trust, keys, checks) = (vault.trust, vault.keys.format, vault.options.checks)
    if !snapshot.isInTransaction {
      try fromStorage(snapshot.beginRead())
      try fromStorage(snapshot.scanItems(from: Span()))
    }
    let front = try FrontRecords(&snapshot)
    let root = try vault.keys.open(root: front.root.span)
    guard root.epoch >= trust.root.epoch || !checks.contains(.epoch) else {
      throw .rolledBack(
        SeenCopy(epoch: trust.root.epoch, time: trust.root.time, path: []), epoch: root.epoch)
    }
    return try begin(
      snapshot, front, root, header: trust.header,
      try vault.keys.copy(ring: front.ring, of: keys), checks: checks)
  }

  /// Begins with a state that somebody holds, and reads by its own keys.
  ///
  /// - Parameters:
  ///   - front: What stands in front of its items.
  ///   - header: What is to stand there.
  static func begin(
    _ storage: consuming Storage, _ front: FrontRecords, _ root: RootRecord, header: [UInt8],
    _ keys: consuming Keyring, checks: IntegrityChecks
  ) throws(VaultError) -> Verification {
    var verification = Verification(storage, keys, root: root, checks: checks)
    try verification.checkFront(front, header: header)
    return verification
  }

  /// Opens a second connection and holds on to the state that it sees.
  fileprivate static func openSnapshot(_ place: FilePlace) throws(VaultError) -> Storage {
    do {
      var storage = try Storage.open(at: place.path)
      try storage.beginRead()
      try storage.scanItems(from: Span())
      return storage
    } catch { throw VaultError(error) }
  }

  fileprivate mutating func checkFront(
    _ front: FrontRecords, header: [UInt8]
  ) throws(VaultError) {
    let digest = try own.keys.headerDigest(
      header: front.header, ring: front.ring, copies: front.copies, slots: front.slots)
    if digest != root.headerDigest || front.header != header {
      try findings.add(.header, "header, key ring and slots")
    }
    let own = own
    try checkCopies(front.copies, own.keys)
    for id in try strayParts() where !isKnown(part: id) {
      try findings.add(.header, "part \(id)")
    }
    for row in front.slots where (try? SlotHeader(decoding: row.header.span)) == nil {
      try findings.add(.slot, "slot \(row.number)")
    }
  }

  private func isKnown(part id: Int64) -> Bool {
    switch Part(rawValue: id) {
    case .header, .ring, .root: true
    case .devices, .remote: own.keys.format > .first
    case .none: false
    }
  }

  /// The ids of the records in front of the items, and of some that have no place there.
  private mutating func strayParts() throws(VaultError) -> [Int64] {
    try fromStorage(storage.partKeys(after: .min, limit: 100))
  }

  /// How much one step does: a row costs 1, a chunk 8.
  private static let stepBudget = 400

  /// Does a few milliseconds of work.
  ///
  /// - Parameter vault: The vault that it was begun for, still unlocked.
  /// - Returns: How far it is now.
  /// - Throws: Errors of the file. What is wrong with the vault is no error here, it is found.
  @discardableResult
  public mutating func step(
    in vault: borrowing UnlockedVault
  ) throws(VaultError) -> VerifyProgress {
    precondition(vault.id == own.keys.vault, "another vault's verification")
    return try step()
  }

  /// The same for who has no vault of it.
  mutating func step() throws(VaultError) -> VerifyProgress {
    budget = Self.stepBudget
    while budget > 0, phase != .done {
      do throws(VaultError) {
        try work(own)
      } catch {
        // A page that cannot be read hides the rest of its table.
        guard error.isDamage else { throw error }
        try findings.add(.row, "\(phase.subject)")
        finishPhase()
      }
    }
    return progress
  }

  private mutating func work(_ own: SnapshotKeys) throws(VaultError) {
    switch phase {
    case .items: try stepItems(own.keys)
    case .historyKeys: try countHistory()
    case .knownHistory: try gatherHistory()
    case .extraHistory: try nameExtraHistory()
    case .chunkKeys: try checkChunkKeys()
    case .buckets: try checkBuckets(own.keys)
    case .nodes: try checkNodes(own.keys)
    case .orphans: try checkOrphans()
    case .heads: try checkHeads(own.keys)
    case .places: try checkPlaces(own.keys)
    case .journal: try checkJournal(own.keys)
    case .done: break
    }
  }

  /// Goes on to the next phase.
  mutating func finishPhase() {
    lastPair = .first
    lastKey = .min
    switch phase {
    case .items: phase = .historyKeys
    case .historyKeys, .knownHistory, .extraHistory: phase = .chunkKeys
    case .chunkKeys: phase = .buckets
    case .buckets: phase = .nodes
    case .nodes: phase = .orphans
    case .orphans: phase = .heads
    case .heads: phase = .places
    case .places: phase = .journal
    case .journal, .done: phase = .done
    }
  }
}

extension Verification.Phase {
  /// What could not be read, in words.
  fileprivate var subject: String {
    switch self {
    case .items: "items"
    case .historyKeys, .knownHistory, .extraHistory: "earlier revisions"
    case .chunkKeys: "pieces of values"
    case .buckets: "buckets"
    case .nodes: "nodes"
    case .orphans, .done: "list of loose values"
    case .heads: "heads of devices"
    case .places: "places of values in a store"
    case .journal: "journal"
    }
  }
}
