// SPDX-License-Identifier: MIT

public import KuraCrypto
internal import SecureMemory

/// Holds the keys of a vault's access log on this machine.
public struct LogKeys: ~Copyable, Sendable {
  fileprivate let vault: VaultID
  fileprivate let key: Key
  fileprivate let pair: ProtectedPair

  /// The keys below the vault key's subkey for the log.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public init(_ key: borrowing Key, vault: VaultID) throws(FormatError) {
    self.init(vault: vault, key: try LogKeys.copy(key), pair: try LogKeys.pair(key, vault))
  }

  private init(vault: VaultID, key: consuming Key, pair: consuming ProtectedPair) {
    self.vault = vault
    self.key = key
    self.pair = pair
  }

  private static func copy(_ key: borrowing Key) throws(FormatError) -> Key {
    do { return try key.copy() } catch { throw .outOfMemory }
  }

  /// `H(key, 32; "kura1/log-pair" ‖ vault id)`.
  private static func pair(
    _ key: borrowing Key, _ vault: VaultID
  ) throws(FormatError) -> ProtectedPair {
    do {
      var hash = try KeyedHash(key: key)
      hash.update(.logPair)
      let id = vault.bytes
      hash.update(id.span)
      return ProtectedPair(secretHalf: try hash.finalizeSecret())
    } catch { throw .outOfMemory }
  }

  /// For whom entries are sealed while the vault is locked.
  public var publicHalf: [UInt8] { pair.publicHalf }

  /// The same keys once more.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func copy() throws(FormatError) -> LogKeys { try LogKeys(key, vault: vault) }
}

/// Begins a log: the head of its file.
public struct LogStart: Equatable, Sendable {
  private static let magic: [UInt8] = Array("KURALOG1".utf8)
  private static let plaintextCount = 8 + Digest.byteCount + 8
  private static let clearCount = magic.count + identifierByteCount + ProtectedPair.byteCount
  /// The length of a log's head, in bytes.
  public static let byteCount = clearCount + plaintextCount + Seal.overhead

  /// How many entries were dropped in front of those there are.
  public var dropped: UInt64
  /// The chain's value in front of the first frame.
  public var chain: Digest
  /// When the log was begun, in milliseconds since 1970.
  public var time: UInt64

  /// The start of a log.
  public init(dropped: UInt64, chain: Digest, time: UInt64) {
    self.dropped = dropped
    self.chain = chain
    self.time = time
  }

  /// The start of a new log: its chain begins with what nobody can choose.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func new(at time: UInt64) throws(FormatError) -> LogStart {
    do {
      let random = try RandomBytes.bytes(Digest.byteCount)
      return LogStart(dropped: 0, chain: Digest(random.span), time: time)
    } catch { throw .outOfMemory }
  }

  /// Seals what the head of a file says.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func encode(_ keys: borrowing LogKeys) throws(FormatError) -> [UInt8] {
    var plaintext: [UInt8] = []
    plaintext.append(integer: dropped)
    plaintext.append(chain)
    plaintext.append(integer: time)
    var bytes = LogStart.magic
    bytes.append(keys.vault)
    bytes.append(contentsOf: keys.pair.publicHalf)
    do {
      let associated = AssociatedData.logStart(vault: keys.vault, publicHalf: keys.pair.publicHalf)
      bytes += try Seal.seal(plaintext.span, authenticating: associated.span, under: keys.key)
    } catch { throw .outOfMemory }
    return bytes
  }

  /// Opens the head of a file.
  ///
  /// - Throws: ``FormatError/damaged``, also when other keys made it.
  public init(
    decoding bytes: Span<UInt8>, _ keys: borrowing LogKeys
  ) throws(FormatError) {
    let half = try LogStart.publicHalf(in: bytes, vault: keys.vault)
    guard half == keys.pair.publicHalf else { throw .damaged }
    let associated = AssociatedData.logStart(vault: keys.vault, publicHalf: half)
    let plaintext: SecretBytes
    do {
      plaintext = try Seal.open(
        bytes.extracting(LogStart.clearCount..<LogStart.byteCount), authenticating: associated.span,
        under: keys.key)
    } catch { throw FormatError(error) }
    var reader = ByteReader(plaintext.bytes)
    dropped = try reader.integer()
    chain = try reader.digest()
    time = try reader.integer()
    try reader.finish()
  }

  /// For whom entries are sealed while the vault is locked; nothing vouches for it without a key.
  ///
  /// - Throws: ``FormatError/damaged`` when the bytes are no log's of that vault.
  public static func publicHalf(
    in bytes: Span<UInt8>, vault: VaultID
  ) throws(FormatError) -> [UInt8] {
    guard bytes.count >= LogStart.byteCount else { throw .damaged }
    var reader = ByteReader(bytes)
    let mark = try reader.take(magic.count)
    for index in magic.indices where mark[index] != magic[index] { throw .damaged }
    let named: VaultID = try reader.identifier()
    guard named == vault else { throw .damaged }
    var half: [UInt8] = []
    half.append(span: try reader.take(ProtectedPair.byteCount))
    return half
  }
}

/// Seals and opens entries that belong together, with their place in the chain.
public struct LogBlock: ~Copyable, Sendable {
  private static let headCount = Digest.byteCount + 8

  /// The chain's value in front of the block; zero when its writer did not know its place.
  public let chain: Digest
  /// The number of its first entry, from 1; zero likewise.
  public let number: UInt64
  private let entries: LogEntries

  /// Whether its writer knew its place.
  public var isPlaced: Bool { number > 0 }

  /// Gives up the block for its entries.
  public consuming func finish() -> LogEntries { entries }

  /// Seals entries into a frame.
  ///
  /// - Parameters:
  ///   - entries: What was written with ``SecretBuffer/append(_:name:other:)``.
  ///   - count: How many they are, 1 to ``LogFrame/mostEntries``.
  ///   - chain: The chain's value in front of the frame; zero when it is not known.
  ///   - number: The first entry's number; zero likewise.
  /// - Throws: ``FormatError/outOfMemory``.
  public static func frame(
    _ entries: Span<UInt8>, count: Int, after chain: Digest, number: UInt64,
    _ keys: borrowing LogKeys
  ) throws(FormatError) -> [UInt8] {
    do {
      var plaintext = try SecretBuffer(capacity: headCount + entries.count)
      try plaintext.append(chain.span)
      try plaintext.append(integer: number)
      try plaintext.append(entries)
      let associated = AssociatedData.logBlock(vault: keys.vault, count: UInt16(count))
      let record = try Seal.sealPadded(
        plaintext.bytes, authenticating: associated.span, under: keys.key)
      let head = LogFrame(.entries, count: UInt16(count), recordByteCount: record.count)
      return head.encode(record.span)
    } catch { throw .outOfMemory }
  }

  /// Seals an entry into a frame, without a key of the vault's.
  ///
  /// - Parameters:
  ///   - facts: The entry, which names no item.
  ///   - publicHalf: As the head of the file has it.
  /// - Throws: ``FormatError/outOfMemory``, ``FormatError/damaged`` when that is none.
  public static func lockedFrame(
    _ facts: LogFacts, to publicHalf: [UInt8], vault: VaultID
  ) throws(FormatError) -> [UInt8] {
    var plaintext: SecretBuffer
    do { plaintext = try SecretBuffer(capacity: 256) } catch { throw .outOfMemory }
    try plaintext.append(facts, name: Span(), other: Span())
    do throws(CryptoError) {
      let sealing = try ProtectedPair.sealingKey(to: publicHalf, for: .logEntry)
      let sealed = try Seal.sealPadded(
        plaintext.bytes, authenticating: AssociatedData.logLocked(vault: vault).span,
        under: sealing.key)
      let record = sealing.ephemeral + sealed
      return LogFrame(.locked, count: 1, recordByteCount: record.count).encode(record.span)
    } catch { throw FormatError(error) }
  }

  /// Opens a frame's record.
  ///
  /// - Parameter frame: Head and record.
  /// - Throws: ``FormatError/damaged``, also when other keys made it.
  public static func open(
    _ frame: Span<UInt8>, _ keys: borrowing LogKeys
  ) throws(FormatError) -> LogBlock {
    guard let head = LogFrame(frame), frame.count == head.frameByteCount else { throw .damaged }
    let block = try open(head, frame, keys)
    guard block.entries.hold(Int(head.count), isLocked: head.kind == .locked) else {
      throw .damaged
    }
    return block
  }

  private static func open(
    _ head: LogFrame, _ frame: Span<UInt8>, _ keys: borrowing LogKeys
  ) throws(FormatError) -> LogBlock {
    let record = frame.extracting(droppingFirst: LogFrame.byteCount)
    switch head.kind {
    case .entries: return try placed(try plaintext(of: record, count: head.count, keys))
    case .locked:
      guard record.count > ProtectedPair.byteCount else { throw .damaged }
      let plaintext = try lockedPlaintext(of: record, keys)
      return LogBlock(chain: .zero, number: 0, entries: LogEntries(plaintext, from: 0))
    }
  }

  private static func plaintext(
    of record: Span<UInt8>, count: UInt16, _ keys: borrowing LogKeys
  ) throws(FormatError) -> SecretBytes {
    let associated = AssociatedData.logBlock(vault: keys.vault, count: count)
    do {
      return try Seal.openPadded(record, authenticating: associated.span, under: keys.key)
    } catch { throw FormatError(error) }
  }

  private static func lockedPlaintext(
    of record: Span<UInt8>, _ keys: borrowing LogKeys
  ) throws(FormatError) -> SecretBytes {
    do throws(CryptoError) {
      let key = try keys.pair.openingKey(
        ephemeral: record.extracting(first: ProtectedPair.byteCount), for: .logEntry)
      return try Seal.openPadded(
        record.extracting(droppingFirst: ProtectedPair.byteCount),
        authenticating: AssociatedData.logLocked(vault: keys.vault).span, under: key)
    } catch { throw FormatError(error) }
  }

  private static func placed(_ plaintext: consuming SecretBytes) throws(FormatError) -> LogBlock {
    let (chain, number) = try place(in: plaintext.bytes)
    return LogBlock(chain: chain, number: number, entries: LogEntries(plaintext, from: headCount))
  }

  private static func place(
    in plaintext: Span<UInt8>
  ) throws(FormatError) -> (chain: Digest, number: UInt64) {
    var reader = ByteReader(plaintext)
    return (try reader.digest(), try reader.integer())
  }
}
