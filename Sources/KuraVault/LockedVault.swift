// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

/// Holds what a key slot says of itself before anything is known to be authentic.
public struct SlotSummary: Equatable, Sendable {
  /// Where it stands, 0 to 15.
  public let number: UInt8
  /// What opens it.
  public let kind: SlotKind
  /// What a guess at it costs; nil where nothing is derived.
  public let kdf: KDFParameters?
}

/// Holds a vault file open of which nothing secret is known, and unlocks it.
///
/// One thread has it at a time; what is shared with a worker is ``attempt(availableMemory:)``.
public struct LockedVault: ~Copyable, Sendable {
  var storage: Storage
  let place: FilePlace
  let identity: FileIdentity
  let options: VaultOptions
  var header: VaultHeader
  private(set) var slotRows: [SlotRow]
  /// The slot that opened last, which is tried first.
  var lastSlot: UInt8?

  /// Opens a vault file, and checks who can get at it, its schema, header and slots.
  ///
  /// - Parameters:
  ///   - path: Absolute.
  ///   - options: Where this machine's state stands, and the time.
  /// - Throws: ``VaultError``: everything about the file, and ``VaultError/damaged(_:)``.
  public init(at path: String, options: VaultOptions) throws(VaultError) {
    let place = try LockedVault.place(path)
    let identity = try LockedVault.check(place)
    try StatePlace.check(options.stateDirectory)
    var storage = try LockedVault.storage(place)
    let (header, rows) = try LockedVault.readFront(&storage)
    self.init(
      storage: storage, place: place, identity: identity, options: options, header: header,
      slotRows: rows, lastSlot: nil)
  }

  private static func place(_ path: String) throws(VaultError) -> FilePlace {
    try fromStorage(FilePlace.resolve(path))
  }

  private static func check(_ place: FilePlace) throws(VaultError) -> FileIdentity {
    do {
      try place.checkDirectory()
      return try place.checkFile()
    } catch { throw VaultError(error) }
  }

  private static func storage(_ place: FilePlace) throws(VaultError) -> Storage {
    try fromStorage(Storage.open(at: place.path))
  }

  /// What an unlocked vault goes back to.
  init(
    storage: consuming Storage, place: FilePlace, identity: FileIdentity, options: VaultOptions,
    header: VaultHeader, slotRows: [SlotRow], lastSlot: UInt8?
  ) {
    self.storage = storage
    self.place = place
    self.identity = identity
    self.options = options
    self.header = header
    self.slotRows = slotRows
    self.lastSlot = lastSlot
  }

  private static func readFront(
    _ storage: inout Storage
  ) throws(VaultError) -> (VaultHeader, [SlotRow]) {
    try fromStorage(storage.beginRead())
    defer { storage.end() }
    let header = try readHeader(&storage)
    let slots = try fromStorage(storage.slots())
    try SlotTable.check(slots)
    return (header, slots)
  }

  private static func readHeader(_ storage: inout Storage) throws(VaultError) -> VaultHeader {
    let data = [UInt8](copying: try storage.record(.header, .header))
    return try VaultHeader.read(data.span, &storage)
  }

  /// The vault file's path, its directory resolved.
  public var path: String { place.path }

  /// Which file it is.
  public var fileID: FileID { FileID(identity) }

  /// The vault's id.
  public var id: VaultID { header.vault }

  /// The key slots, as far as they can be read without a key.
  public var slots: [SlotSummary] { SlotSummary.list(slotRows) }

  /// Moves the WAL into the file, which takes no key, and waits for the disk: a copy taken then is the vault.
  ///
  /// - Throws: ``VaultError/busy`` while another process reads or writes, and those of the disk; the WAL
  ///   then holds what the file does not.
  public mutating func checkpoint() throws(VaultError) {
    try fromStorage(storage.truncateWAL())
  }

  /// Whether a WAL with something in it stands beside a vault's file: of an engine that has the vault open,
  /// or was killed.
  ///
  /// - Parameter path: Absolute.
  public static func hasWAL(at path: String) -> Bool {
    guard let place = try? FilePlace.resolve(path) else { return false }
    return Storage.hasWAL(at: place.path)
  }

  /// Closes the file. When nobody else has it open, the WAL is moved into it first, which needs
  /// no key, so that the vault is one file.
  public consuming func close() { try? storage.truncateWAL() }
}

extension SlotSummary {
  /// The slots whose headers can be read.
  static func list(_ rows: [SlotRow]) -> [SlotSummary] {
    rows.compactMap { row in
      guard let header = try? SlotHeader(decoding: row.header.span) else { return nil }
      return SlotSummary(number: row.number, kind: header.kind, kdf: header.kdf)
    }
  }
}

// MARK: - Attempts

extension LockedVault {
  /// What a worker needs to try a passcode, recovery key or key file.
  ///
  /// - Parameter availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/damaged(_:)`` for a slot that cannot be read.
  public mutating func attempt(
    availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> UnlockAttempt {
    // Another engine may have changed the slots since the file was opened.
    let (now, rows) = try LockedVault.readFront(&storage)
    guard now.follows(header) else { throw .damaged(.header) }
    header = now
    slotRows = rows
    return try UnlockAttempt(
      vault: header.vault, rows: rows, first: lastSlot, availableMemory: availableMemory,
      devices: DeviceSecrets(stateDirectory: options.stateDirectory), chip: options.chip,
      keys: options.keys)
  }
}
