// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

/// Tells what a vault is as a whole.
public struct Summary: Equatable, Sendable {
  /// One more with every change.
  public let epoch: UInt64
  /// 32 bytes that two copies of a vault can be compared by; no secret.
  public let fingerprint: [UInt8]
  /// Items that are not deleted.
  public let itemCount: UInt64
  /// Deleted items of which something is kept; in format 2 also what purged ones leave.
  public let deletedCount: UInt64
  /// The format that it has.
  public let format: VaultFormat
  /// What could be better.
  public let weaknesses: Weaknesses
}

/// Reads and writes a vault that is open, on the thread that unlocked it.
///
/// Several engines may have the same file unlocked: each call works on the file as it is then. A
/// call that throws has changed nothing.
public struct UnlockedVault: ~Copyable {
  var rows: VaultRows
  let place: FilePlace
  let identity: FileIdentity
  let options: VaultOptions
  var header: VaultHeader
  var keys: Keyring
  var trust: Trust
  /// Who writes: this engine, from this unlock on.
  let writer: WriterID
  /// The epoch that the seen file has.
  var seenEpoch: UInt64 = 0
  /// The counter of the seen file's newest record when that was last read or written.
  var seenCounter: UInt64 = 0
  /// The end of the access log that the seen file had then.
  var seenLogHead = Digest.zero
  /// The access log of this machine.
  var log = AccessLog()
  /// Whether the WAL still has old pages that should be gone.
  var mustTruncate = false
  var sweeper = Sweeper()
  /// Removed copies whose files the store does not let this one take away.
  var keptOfOthers: Set<DeviceID> = []
  /// What copies know of each other, opened, as of the last look.
  var sharing: SharingMemory?
  /// How far the last look over all items is, once a rotation has sealed them again.
  var rotationCheck: RotationCheck?
  /// Whether it is known that this machine wrote the file last, and as which copy.
  var isProved = false
  /// Whether this machine knows who writes.
  var isWriterNoted = false
  var provedDevice: DeviceID?
  /// Whose changes were left out when an epoch was entered that had removed them.
  var leftOut: Set<DeviceID> = []
  /// Whether the store gets recovery keys alone in the epoch of this record, which takes a signature to find out.
  var sparing: (record: [UInt8], isSparing: Bool)?
  /// What all items came to at this root, where somebody asked for that.
  var fingerprinted: (root: UInt64, hash: [UInt8])?
  /// How often this engine put the vault under a new key since the unlock.
  var rekeyCount: UInt64 = 0

  /// The slot that opened the vault.
  public internal(set) var unlockSlot: UInt8

  /// What the unlock has to tell.
  public internal(set) var notices: Notice = []

  init(
    _ locked: consuming LockedVault, keys: consuming Keyring, trust: Trust, writer: WriterID,
    slot: UInt8
  ) {
    place = locked.place
    identity = locked.identity
    options = locked.options
    header = locked.header
    rows = VaultRows(locked.storage, checks: options.checks)
    self.keys = keys
    self.trust = trust
    self.writer = writer
    unlockSlot = slot
  }

  /// Wipes all keys and everything that was read with them.
  ///
  /// What was committed since ``flushSeen()`` is not noted in the seen file by this, nor what waits for
  /// the access log: take ``lockNotes`` before.
  ///
  /// - Returns: The file, still open; ``LockedVault/close()`` leaves it as one file.
  public consuming func lock() -> LockedVault {
    remember()
    return LockedVault(
      storage: rows.finish(), place: place, identity: identity, options: options, header: header,
      slotRows: trust.slots, lastSlot: unlockSlot)
  }
}

// MARK: - What it is

extension UnlockedVault {
  /// The vault file's path, its directory resolved.
  public var path: String { place.path }

  /// Which file it is.
  public var fileID: FileID { FileID(identity) }

  /// The vault's id.
  public var id: VaultID { header.vault }

  /// The key slots.
  public var slots: [SlotSummary] { SlotSummary.list(trust.slots) }

  /// The settings, as of the last call that read the vault.
  public var policy: Policy { keys.ring.policy }

  /// The vault as a whole, as of the last call that read it.
  public var summary: Summary {
    Summary(
      epoch: trust.root.epoch, fingerprint: trust.fingerprint.bytes,
      itemCount: trust.root.itemCount - trust.root.deletedCount,
      deletedCount: trust.root.deletedCount, format: format, weaknesses: weaknesses)
  }

  private var weaknesses: Weaknesses {
    var found: Weaknesses = []
    if slots.contains(where: { $0.kdf.map(KDFLimits.isWeak) ?? false }) { found.insert(.weakKDF) }
    if !slots.contains(where: { $0.kind == .recoveryKey }) { found.insert(.noRecoveryKey) }
    return found
  }
}

// MARK: - Unlocking

extension LockedVault {
  /// Unlocks the vault: its root, header digest and freshness are checked.
  ///
  /// - Parameters:
  ///   - key: What ``UnlockAttempt/open(_:secret:only:)`` gave for this vault.
  ///   - acceptingRollback: Whether an older or other copy than the one that this machine saw is
  ///     taken for the vault from now on.
  ///   - acceptingExchange: Whether this is the vault of the path from now on, though another one was there.
  /// - Throws: ``VaultError/exchanged(lastPath:)``, ``VaultError/rolledBack(_:epoch:)``, ``VaultError/forked(_:epoch:)``,
  ///   ``VaultError/damaged(_:)`` and those of the file, which is closed then.
  public consuming func unlock(
    with key: consuming VaultKey, acceptingRollback: Bool = false, acceptingExchange: Bool = false
  ) throws(VaultError) -> UnlockedVault {
    let front = try readFrontRecords()
    // After a change by another engine the key may be none of this vault's; the header digest vouches
    // for the slots that stand there now.
    guard front.slots.contains(key.row) else { throw .credentialStale }
    let keys = try Keyring.derive(
      from: key.payload.vaultKey, of: header, sealedRing: front.ring)
    let trust = try Trust(front, keys, checks: options.checks)
    if key.holdsProtectedHalf {
      try keys.check(ProtectedPair(secretHalf: try key.protectedHalf(vault: header.vault)))
    }
    var vault = UnlockedVault(
      self, keys: keys, trust: trust, writer: try WriterID.fresh(), slot: key.slot)
    try vault.checkSeen(
      acceptingRollback: acceptingRollback, acceptingExchange: acceptingExchange)
    vault.remember()
    if vault.summary.weaknesses.contains(.weakKDF) { vault.notices.insert(.weakSlot) }
    return vault
  }

  private mutating func readFrontRecords() throws(VaultError) -> FrontRecords {
    try fromStorage(storage.beginRead())
    defer { storage.end() }
    let front = try FrontRecords(&storage)
    let now = try VaultHeader.read(front.header.span, &storage)
    guard now.follows(header) else { throw .damaged(.header) }
    header = now
    return front
  }
}
