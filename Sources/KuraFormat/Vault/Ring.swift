// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Holds the key ring: the data keys by generation, the protected pair's public half, work under way and the
/// policy.
public struct Ring: ~Copyable, Sendable {
  /// Says how far a data key is in its life.
  public enum State: UInt8, Sendable {
    /// New records are sealed under it.
    case active = 1
    /// Records that were sealed under it still stand.
    case retiring = 2
  }

  /// Describes a data key of the ring.
  public struct Generation: Equatable, Sendable {
    /// The number that rows name it by.
    public let number: UInt32
    /// How far it is in its life.
    public let state: State
    /// When it was made, in milliseconds since 1970.
    public let created: UInt64
  }

  /// Names work that goes on over many transactions.
  public enum Work: UInt8, Sendable {
    /// None.
    case none = 0
    /// Rows are being sealed again under the active data key.
    case rotate = 1
  }

  static let layout: UInt8 = 1
  /// The same with the slots' notes behind; written when there are any.
  static let layoutWithNotes: UInt8 = 2
  /// The only one of format 2, with what copies have to know behind the notes.
  static let layoutWithLedger: UInt8 = 3
  /// The most bytes of a ring of that layout.
  static let longest = 524_288
  /// Data keys that are retired and unused are dropped, so that honest rings hold two at most.
  static let mostGenerations = 256

  /// The data keys' facts, ascending by number.
  public private(set) var generations: [Generation]
  /// The data keys' bytes in the same order, 32 each.
  private var keys: SecretBytes
  /// The protected pair's public half, 32 bytes.
  public let protectedHalf: [UInt8]
  /// Work under way.
  public var work: Work
  /// How far that work is, in tag order.
  public var cursor: ItemTag
  /// The vault's settings.
  public var policy: Policy
  /// What there is to say of the key slots.
  public var notes: SlotNotes
  /// What there is to keep for copies of the vault; nil in format 1.
  public var ledger: CopyLedger?

  private init(
    generations: [Generation], keys: consuming SecretBytes, protectedHalf: [UInt8],
    work: Work, cursor: ItemTag, policy: Policy, notes: SlotNotes, ledger: CopyLedger? = nil
  ) {
    self.generations = generations
    self.keys = keys
    self.protectedHalf = protectedHalf
    self.work = work
    self.cursor = cursor
    self.policy = policy
    self.notes = notes
    self.ledger = ledger
  }

  /// The ring of a new vault: one active data key, no work, all defaults.
  ///
  /// - Parameters:
  ///   - dataKey: The first data key; its generation is 1.
  ///   - created: Milliseconds since 1970.
  ///   - protectedHalf: The protected pair's public half, 32 bytes.
  public init(dataKey: consuming Key, created: UInt64, protectedHalf: [UInt8]) {
    precondition(protectedHalf.count == ProtectedPair.byteCount, "a half has 32 bytes")
    let first = Generation(number: 1, state: .active, created: created)
    self.init(
      generations: [first], keys: dataKey.finish(), protectedHalf: protectedHalf, work: .none,
      cursor: .zero, policy: Policy(), notes: SlotNotes())
  }
}

// MARK: - Keys

extension Ring {
  /// The generation that new records are sealed under.
  public var active: UInt32 {
    guard let active = generations.first(where: { $0.state == .active }) else {
      preconditionFailure("decoding checked that there is one")
    }
    return active.number
  }

  /// A copy of a generation's data key.
  ///
  /// - Throws: ``FormatError/damaged`` when the ring does not hold it, ``FormatError/outOfMemory``.
  public borrowing func dataKey(_ generation: UInt32) throws(FormatError) -> Key {
    guard let index = generations.firstIndex(where: { $0.number == generation }) else {
      throw .damaged
    }
    let start = index * Key.byteCount
    return try copiedKey(keys.bytes.extracting(start..<(start + Key.byteCount)))
  }
}

// MARK: - Generations

extension Ring {
  /// The same ring at the beginning of a rotation: the data key is retiring, and a new one is active.
  ///
  /// - Parameters:
  ///   - key: The new data key.
  ///   - created: Milliseconds since 1970.
  /// - Throws: ``FormatError/damaged`` when no generation is left, ``FormatError/outOfMemory``.
  public borrowing func rotating(
    to key: consuming Key, created: UInt64
  ) throws(FormatError) -> Ring {
    guard let last = generations.last?.number, last < .max,
      generations.count < Ring.mostGenerations
    else { throw .damaged }
    var next = generations.map {
      Generation(number: $0.number, state: .retiring, created: $0.created)
    }
    next.append(Generation(number: last + 1, state: .active, created: created))
    var all = try SecretBytes.allocate(next.count * Key.byteCount)
    all.overwrite(at: 0, with: keys.bytes)
    all.overwrite(at: keys.count, with: key.bytes)
    return Ring(
      generations: next, keys: all, protectedHalf: protectedHalf, work: .rotate, cursor: .zero,
      policy: policy, notes: notes, ledger: ledger)
  }

  /// The ring under a new vault key: another data key alone, and the public half of another pair.
  ///
  /// - Parameters:
  ///   - key: The new data key; its generation follows those there were.
  ///   - created: Milliseconds since 1970.
  ///   - protectedHalf: The new protected pair's public half, 32 bytes.
  ///   - notes: What there is to say of the slots.
  /// - Throws: ``FormatError/damaged`` when no generation is left.
  public borrowing func rekeyed(
    to key: consuming Key, created: UInt64, protectedHalf: [UInt8], notes: SlotNotes
  ) throws(FormatError) -> Ring {
    precondition(protectedHalf.count == ProtectedPair.byteCount, "a half has 32 bytes")
    guard let last = generations.last?.number, last < .max else { throw .damaged }
    let only = Generation(number: last + 1, state: .active, created: created)
    return Ring(
      generations: [only], keys: key.finish(), protectedHalf: protectedHalf, work: .none,
      cursor: .zero, policy: policy, notes: notes, ledger: ledger?.withoutSlots)
  }

  /// The same ring at the end of a rotation: only the active data key is left.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func rotated() throws(FormatError) -> Ring {
    let number = active
    let key = try dataKey(number)
    return Ring(
      generations: generations.filter { $0.number == number }, keys: key.finish(),
      protectedHalf: protectedHalf, work: .none, cursor: .zero, policy: policy, notes: notes,
      ledger: ledger)
  }
}

// MARK: - Encoding

extension Ring {
  /// Reads an opened ring.
  ///
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public static func decode(
    _ plaintext: Span<UInt8>, of format: VaultFormat = .first
  ) throws(FormatError) -> Ring {
    var reader = ByteReader(plaintext)
    let layout = try reader.integer(UInt8.self)
    switch format {
    case .first: guard layout == Ring.layout || layout == layoutWithNotes else { throw .damaged }
    case .second:
      guard layout == layoutWithLedger, plaintext.count <= longest else { throw .damaged }
    }
    let count = Int(try reader.integer(UInt16.self))
    guard (1...mostGenerations).contains(count) else { throw .damaged }
    var generations: [Generation] = []
    var keys = try SecretBytes.allocate(count * Key.byteCount)
    for index in 0..<count {
      generations.append(try generation(&reader, after: generations.last))
      keys.overwrite(at: index * Key.byteCount, with: try reader.take(Key.byteCount))
    }
    guard generations.count(where: { $0.state == .active }) == 1 else { throw .damaged }
    var half: [UInt8] = []
    half.append(span: try reader.take(ProtectedPair.byteCount))
    guard let work = Work(rawValue: try reader.integer()) else { throw .damaged }
    let cursor: ItemTag = try reader.identifier()
    let policy = try policy(&reader)
    let notes =
      layout == Ring.layout
      ? SlotNotes() : try SlotNotes(&reader, atLeast: layout == layoutWithNotes ? 1 : 0)
    let ledger = layout == layoutWithLedger ? try CopyLedger(&reader) : nil
    try reader.finish()
    return Ring(
      generations: generations, keys: keys, protectedHalf: half, work: work, cursor: cursor,
      policy: policy, notes: notes, ledger: ledger)
  }

  private static func generation(
    _ reader: inout ByteReader, after last: Generation?
  ) throws(FormatError) -> Generation {
    let number = try reader.integer(UInt32.self)
    guard let state = State(rawValue: try reader.integer()) else { throw .damaged }
    guard number > (last?.number ?? 0) else { throw .damaged }
    return Generation(number: number, state: state, created: try reader.integer())
  }

  private static func policy(_ reader: inout ByteReader) throws(FormatError) -> Policy {
    let count = try reader.integer(UInt16.self)
    guard count <= Policy.mostEntries else { throw .damaged }
    var policy = Policy()
    for _ in 0..<count {
      try policy.append(.init(key: try reader.integer(), value: try reader.integer()))
    }
    return policy
  }

  /// The bytes to seal.
  ///
  /// - Throws: ``FormatError/tooManySides`` where the ledger is too long, ``FormatError/outOfMemory``.
  public borrowing func encode() throws(FormatError) -> SecretBytes {
    var buffer: SecretBuffer
    do { buffer = try SecretBuffer(capacity: 512) } catch { throw .outOfMemory }
    do { try append(to: &buffer) } catch { throw .outOfMemory }
    guard ledger == nil || buffer.count <= Ring.longest else { throw .tooManySides }
    return buffer.finish()
  }

  private borrowing func append(to buffer: inout SecretBuffer) throws(SecureMemoryError) {
    let plain = notes.all.isEmpty ? Ring.layout : Ring.layoutWithNotes
    try buffer.append(ledger == nil ? plain : Ring.layoutWithLedger)
    try buffer.append(integer: UInt16(generations.count))
    for (index, generation) in generations.enumerated() {
      let start = index * Key.byteCount
      try buffer.append(integer: generation.number)
      try buffer.append(generation.state.rawValue)
      try buffer.append(integer: generation.created)
      try buffer.append(keys.bytes.extracting(start..<(start + Key.byteCount)))
    }
    try buffer.append(protectedHalf.span)
    try buffer.append(work.rawValue)
    try buffer.append(cursor)
    try buffer.append(integer: UInt16(policy.entries.count))
    for entry in policy.entries {
      try buffer.append(entry.key)
      try buffer.append(integer: entry.value)
    }
    if !notes.all.isEmpty || ledger != nil { try notes.append(to: &buffer) }
    if let ledger {
      let encoded = ledger.encoded
      try buffer.append(encoded.span)
    }
  }
}
