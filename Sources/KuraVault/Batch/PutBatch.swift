// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Stores many values in one transaction, as if they had been put one after another.
///
/// It works on a connection of its own: until it is committed, everybody else reads the state
/// before, and nobody else writes. Dropping it leaves nothing behind.
public struct PutBatch: ~Copyable {
  /// The most items of a batch.
  public static let mostItems = 262_144

  /// Says where an item on its way in stands, by positions in ``text``.
  struct Entry {
    var tag: ItemTag
    let index: Int
    let name: Range<Int>
    let attributes: Range<Int>
    let secrets: Range<Int>
    var value: Range<Int>
    let manner: BatchManner
  }

  let isReplacing: Bool
  /// Whether nothing is stored where one item cannot be.
  let isWhole: Bool
  private var tags: TagHasher
  /// How often the vault had been rekeyed when the tags were made.
  private var rekeyCount: UInt64
  /// Normalised names, attributes and values, while more are added.
  var adding: SecretBuffer
  /// The text of all items once no more are added; nil before.
  var text: BatchText?
  var entries: [Entry] = []
  /// How far the writing has come.
  var next = 0
  /// Items from ``next`` on that are sealed already.
  var ahead = SealedAhead()
  /// Sealed items that are in the tree and whose rows are yet to be written: while others are sealed.
  var unwritten: [SealedItem] = []
  /// Its connection; nil once all is stored.
  var rows: VaultRows?
  var draft: Draft?
  var tree: TreeEdit?
  /// The bucket that the last slice left off in.
  var bucket: BucketEdit?
  /// Whether nothing more is added.
  var isClosed: Bool { text != nil }

  /// The first item that cannot be stored, and why.
  public internal(set) var failure: (index: Int, error: VaultError)?
  /// How many items are stored for good; 0 until all are.
  public internal(set) var storedCount = 0
  /// Whether it is committed.
  public internal(set) var isCommitted = false

  init(
    _ rows: consuming VaultRows, of vault: borrowing UnlockedVault, isReplacing: Bool,
    isWhole: Bool
  ) throws(VaultError) {
    let tags = try vault.keys.tagHasher()
    adding = try fromMemory(SecretBuffer(capacity: 65_536))
    self.tags = tags
    rekeyCount = vault.rekeyCount
    self.rows = consume rows
    self.isReplacing = isReplacing
    self.isWhole = isWhole
  }

  /// Notes that an item cannot be stored, if no earlier one is.
  mutating func fail(at index: Int, with error: VaultError) {
    if let failure, failure.index <= index { return }
    failure = (index, error)
  }
}

extension UnlockedVault {
  /// Begins a batch and keeps other writers out until it ends.
  ///
  /// - Parameters:
  ///   - isReplacing: Whether items of those names may exist; their values go to the history.
  ///   - isWhole: Whether nothing is stored where one item cannot be.
  /// - Throws: ``VaultError/busy`` when somebody else writes, and those of the file.
  public mutating func beginBatch(
    replacing isReplacing: Bool, whole isWhole: Bool = false
  ) throws(VaultError) -> PutBatch {
    try reading { _ throws(VaultError) in }
    let storage = try fromStorage(Storage.openForBatch(at: place.path))
    // What was opened is what is at the path, before and after.
    try checkInPlace()
    var batch = try PutBatch(
      VaultRows(storage, checks: options.checks), of: self, isReplacing: isReplacing,
      isWhole: isWhole)
    try begin(&batch)
    return batch
  }

  /// Adds an item behind those that were added before; nothing is written yet.
  ///
  /// One that breaks a rule closes the batch: those before it can still be stored.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - value: At most 64 KiB, of one that goes on its first bytes; only borrowed.
  ///   - attributes: As `Attributes.init(unsorted:)` takes them.
  ///   - secrets: The same of those that are to be as secret as the value; empty for none.
  ///   - manner: As what it is stored.
  ///   - batch: Has fewer than ``PutBatch/mostItems``.
  /// - Returns: Whether it was added.
  /// - Throws: What has nothing to do with this item.
  public func add(
    _ name: Span<UInt8>, value: Span<UInt8>, attributes: Span<UInt8>,
    secrets: Span<UInt8> = Span(), as manner: BatchManner, to batch: inout PutBatch
  ) throws(VaultError) -> Bool {
    precondition(batch.entries.count < PutBatch.mostItems, "a batch is bounded")
    guard batch.failure == nil, !batch.isClosed else { return false }
    do throws(VaultError) {
      guard value.count <= ItemBody.longestInline else { throw .tooLarge }
      if manner.kind == .otp { _ = try OTPSeed.read(value) }
      if attributes.count > 2 { try Self.check(attributes) }
      if secrets.count > 2 { try Self.check(secrets: secrets) }
      let name = try ItemName.checked(name)
      try batch.append(name.bytes, attributes, secrets, value, manner)
      return true
    } catch {
      guard error.isOfItem else { throw error }
      batch.fail(at: batch.entries.count, with: error)
      return false
    }
  }

  /// Goes on with the value of the item that was added last, to any length.
  ///
  /// - Parameters:
  ///   - value: Its next bytes; only borrowed.
  ///   - batch: What they are added to.
  /// - Returns: Whether they were added.
  public func add(
    more value: Span<UInt8>, to batch: inout PutBatch
  ) throws(VaultError) -> Bool {
    guard batch.failure == nil, !batch.isClosed, let last = batch.entries.last else { return false }
    guard last.manner.kind == .value else {
      batch.fail(at: last.index, with: .tooLarge)
      return false
    }
    try batch.append(more: value)
    return true
  }

  private static func check(_ attributes: Span<UInt8>) throws(VaultError) {
    _ = try fromFormat(.item, Attributes(unsorted: attributes))
  }

  /// What calls itself an otpauth URI under the key that codes are made of has to be one.
  private static func check(secrets: Span<UInt8>) throws(VaultError) {
    let attributes = try fromFormat(.item, Attributes(unsorted: secrets))
    let (key, scheme) = (Array("otp".utf8), Array("otpauth://".utf8))
    guard let uri = attributes.list.value(of: key.span), uri.count >= scheme.count,
      scheme.indices.allSatisfy({ scheme[$0] == uri[$0] })
    else { return }
    _ = try OTPSeed.read(uri)
  }
}

extension PutBatch {
  fileprivate mutating func append(
    _ name: Span<UInt8>, _ attributes: Span<UInt8>, _ secrets: Span<UInt8>,
    _ value: Span<UInt8>, _ manner: BatchManner
  ) throws(VaultError) {
    let start = adding.count
    let nameEnd = start + name.count
    let attributesEnd = nameEnd + attributes.count
    let secretsEnd = attributesEnd + secrets.count
    do {
      try adding.append(name)
      try adding.append(attributes)
      try adding.append(secrets)
      try adding.append(value)
    } catch { throw VaultError(error) }
    entries.append(
      Entry(
        tag: tags.tag(of: name), index: entries.count, name: start..<nameEnd,
        attributes: nameEnd..<attributesEnd, secrets: attributesEnd..<secretsEnd,
        value: secretsEnd..<adding.count, manner: manner))
  }
}

extension PutBatch {
  /// Puts bytes behind the value that stands last.
  fileprivate mutating func append(more value: Span<UInt8>) throws(VaultError) {
    do throws(SecureMemoryError) { try adding.append(value) } catch { throw .outOfMemory }
    let last = entries.count - 1
    entries[last].value = entries[last].value.lowerBound..<adding.count
  }

  /// Makes the tags anew where a rekey came between the items and their writing.
  mutating func renewTags(in vault: borrowing UnlockedVault) throws(VaultError) {
    guard rekeyCount != vault.rekeyCount else { return }
    var renewed = try vault.keys.tagHasher()
    if let text { PutBatch.tag(&entries, by: &renewed, of: text.secret) }
    tags = renewed
    rekeyCount = vault.rekeyCount
    sortEntries()
  }

  private static func tag(
    _ entries: inout [Entry], by tags: inout TagHasher, of text: borrowing SecretBytes
  ) {
    for index in entries.indices {
      entries[index].tag = tags.tag(of: text.bytes.extracting(entries[index].name))
    }
  }

  /// Sorts the items as the tree is sorted; items of one name stay in the order in which they came.
  mutating func sortEntries() {
    entries.sort { $0.tag == $1.tag ? $0.index < $1.index : $0.tag < $1.tag }
  }
}

extension VaultError {
  /// Whether it is about one item as it was given, so that others can still be stored.
  var isOfItem: Bool {
    if case .exists = self { return true }
    if case .nameInvalid = self { return true }
    if case .attributeInvalid = self { return true }
    if case .otpInvalid = self { return true }
    if case .takesNewFormat = self { return true }
    return self == .tooLarge || self == .historyFull
  }
}
