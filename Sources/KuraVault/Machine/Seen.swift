// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Remembers what this machine last saw of a vault: a file, held under its lock.
struct SeenFile: ~Copyable {
  /// A lock holder has a read, a write and a sync to do; who takes longer was stopped.
  private static let patience = 50

  private let file: StateFile
  /// Its valid record that counts; nil when the file is new or unreadable.
  let latest: SeenRecord?
  /// Whether the file has bytes, and none of them are a valid record.
  let isDamaged: Bool
  /// What it claims where none of its records is valid: a copy from before a rekey meets the records
  /// of the keys that came after.
  let claim: SeenRecord?
  /// Whether one of its records is not valid: it was torn, or other keys made it.
  let hasForeignRecord: Bool

  static func open(
    _ vault: VaultID, in directory: String, key: borrowing Key
  ) throws(VaultError) -> SeenFile {
    let file = try lock(vault, in: directory)
    let bytes: [UInt8]
    do { bytes = try file.read(SeenRecord.fileByteCount) } catch {
      throw VaultError(error, ofState: name(of: vault), in: directory)
    }
    let latest = try? SeenRecord.latest(in: bytes.span, key: key, vault: vault)
    return SeenFile(
      file: file, latest: latest, isDamaged: latest == nil && !bytes.isEmpty,
      claim: latest == nil ? SeenRecord.claimed(in: bytes.span, vault: vault) : nil,
      hasForeignRecord: hasForeignRecord(in: bytes, key: key, vault))
  }

  private static func hasForeignRecord(
    in bytes: [UInt8], key: borrowing Key, _ vault: VaultID
  ) -> Bool {
    let half = SeenRecord.fileByteCount / 2
    guard bytes.count == 2 * half else { return false }
    for start in [0, half] where bytes[start..<start + half].contains(where: { $0 != 0 }) {
      var alone = [UInt8](repeating: 0, count: bytes.count)
      alone.replaceSubrange(start..<start + half, with: bytes[start..<start + half])
      if (try? SeenRecord.latest(in: alone.span, key: key, vault: vault)) == nil { return true }
    }
    return false
  }

  /// What the machine saw of a vault last; nil where that is nothing, or cannot be read.
  static func look(
    at vault: VaultID, in directory: String, key: borrowing Key
  ) -> SeenRecord? {
    guard let place = try? StatePlace.file(name(of: vault), in: directory),
      let bytes = try? StateFile.peek(place, SeenRecord.fileByteCount)
    else { return nil }
    return try? SeenRecord.latest(in: bytes.span, key: key, vault: vault)
  }

  /// The highest epoch that this machine remembers of a vault, whatever keys it had then; 0 for none. What is begun above
  /// it is taken for no older copy.
  static func highestEpoch(of vault: VaultID, _ options: VaultOptions) -> UInt64 {
    var claimed: UInt64 = 0
    if let place = try? StatePlace.file(name(of: vault), in: options.stateDirectory),
      let bytes = try? StateFile.peek(place, SeenRecord.fileByteCount)
    {
      claimed = SeenRecord.claimed(in: bytes.span, vault: vault)?.epoch ?? 0
    }
    // Nothing vouches for what is claimed: it may be any number.
    let known = options.memory?.state(of: vault)?.epoch ?? 0
    return max(claimed > UInt64.max / 2 ? 0 : claimed, known)
  }

  static func name(of vault: VaultID) -> String { vault.hexadecimal + ".seen" }

  /// Opens the file, which is made when it is missing, and locks it.
  static func lock(_ vault: VaultID, in directory: String) throws(VaultError) -> StateFile {
    try StatePlace.lock(name(of: vault), in: directory, patience: patience)
  }

  /// A record that claims a later epoch than this, where none is valid.
  borrowing func newerClaim(than epoch: UInt64) -> SeenRecord? {
    guard let claim, claim.epoch > epoch else { return nil }
    return claim
  }

  /// Writes a record in the place of the older one.
  borrowing func write(_ record: SeenRecord, key: borrowing Key) throws(VaultError) {
    let bytes = try fromFormat(.root, record.encode(key: key))
    try fromStorage(file.write(bytes.span, at: record.offset, length: SeenRecord.fileByteCount))
  }
}

/// Begins what a machine remembers of a vault that was made on it.
struct FirstSight: Sendable {
  private let record: SeenRecord
  private let bytes: [UInt8]
  private let directory: String

  /// - Parameter last: What the machine saw of the vault before.
  init(
    _ root: RootRecord, at place: FilePlace, _ keys: borrowing Keyring, in directory: String,
    after last: SeenRecord? = nil
  ) throws(VaultError) {
    record = SeenRecord(
      counter: (last?.counter ?? 0) &+ 1, vault: keys.vault, epoch: root.epoch,
      fingerprint: try keys.fingerprint(of: root), logHead: last?.logHead ?? .zero,
      time: root.time, path: Array(place.path.utf8))
    bytes = try fromFormat(.root, record.encode(key: keys.seen))
    self.directory = directory
  }

  /// Begins the seen file, and notes the vault's place.
  func write() throws(VaultError) {
    try PlaceFile(in: directory).note(record.vault, at: record.path)
    let file = try SeenFile.lock(record.vault, in: directory)
    try fromStorage(
      file.write(bytes.span, at: record.offset, length: SeenRecord.fileByteCount))
  }
}

/// Writes what a vault that was locked had yet to note in the seen file: whole records, made while the key was
/// there.
public struct SeenNote: Sendable {
  /// How often another engine may have written meanwhile: there is a record for each counter.
  private static let spare: UInt64 = 4

  private let records: [(record: SeenRecord, bytes: [UInt8])]
  private let directory: String

  fileprivate init(
    _ record: SeenRecord, key: borrowing Key, in directory: String
  ) throws(FormatError) {
    var records: [(record: SeenRecord, bytes: [UInt8])] = []
    for step in 0..<SeenNote.spare {
      var next = record
      next.counter &+= step
      records.append((next, try next.encode(key: key)))
    }
    self.records = records
    self.directory = directory
  }

  /// Writes the record that follows the file's, unless that one is as new; waits for the disk.
  ///
  /// - Throws: ``VaultError/busy`` when somebody keeps the file, and those of the disk.
  public func write() throws(VaultError) {
    guard let vault = records.first?.record.vault else { return }
    let file = try SeenFile.lock(vault, in: directory)
    let bytes = try fromStorage(file.read(SeenRecord.fileByteCount))
    let claim = SeenRecord.claim(in: bytes.span, vault: vault)
    let next = records.first { claim.map { $0.counter } ?? 0 < $0.record.counter }
    guard let next, claim.map({ next.record.isNews(after: $0) }) ?? true else { return }
    try fromStorage(
      file.write(next.bytes.span, at: next.record.offset, length: SeenRecord.fileByteCount))
  }
}

extension SeenRecord {
  /// Whether there is more in it than what a file claims: a newer state, or more of the log at the same.
  fileprivate func isNews(after claim: SeenClaim) -> Bool {
    epoch > claim.epoch
      || epoch == claim.epoch && fingerprint == claim.fingerprint
        && logHead != claim.logHead
  }
}

extension SeenCopy {
  fileprivate init(_ record: SeenRecord) {
    self.init(epoch: record.epoch, time: record.time, path: record.path)
  }
}

extension UnlockedVault {
  /// Whether the seen file is behind, or something is left to clear from the WAL.
  public var needsFlush: Bool { trust.root.epoch > seenEpoch || mustTruncate }

  /// What is left to note once the keys are gone; nil when the file is up to date.
  ///
  /// - Parameter end: The chain's end of the access log, where the file does not have it.
  func seenNote(logEnd end: Digest?) -> SeenNote? {
    guard trust.root.epoch > seenEpoch || end != nil else { return nil }
    return try? SeenNote(
      record(after: seenCounter, logHead: end ?? seenLogHead), key: keys.seen,
      in: options.stateDirectory)
  }

  /// Wipes the keys, then notes the newest state and closes the file.
  public consuming func fold() {
    let notes = lockNotes
    let locked = lock()
    notes.write()
    locked.close()
  }

  /// Notes the vault's epoch in the seen file, never backward, and clears the WAL when a slot was
  /// replaced and another engine was in the way then.
  ///
  /// - Throws: ``VaultError/busy``: later again. ``VaultError/rolledBack(_:epoch:)`` and
  ///   ``VaultError/forked(_:epoch:)`` when another engine of this machine saw something else: lock.
  public mutating func flushSeen() throws(VaultError) {
    do { try noteSeen() } catch {
      if mustTruncate { try? truncateWAL() }
      throw error
    }
    // Another reader is in the way of this alone.
    if mustTruncate { try truncateWAL() }
  }

  private mutating func noteSeen() throws(VaultError) {
    guard trust.root.epoch > seenEpoch else { return }
    // What is noted of the log's end then tells of this change, too. A log that another engine holds, or that
    // cannot be written, is left to the next time.
    try? flushLog(sync: true)
    guard let file = try openSeenFile() else {
      // There is no use in trying again before there is more to note.
      seenEpoch = trust.root.epoch
      return
    }
    if let latest = file.latest {
      // Another engine is ahead: what it saw stands.
      if latest.epoch > trust.root.epoch {
        adopt(latest)
        return
      }
      try check(latest)
    }
    try note(in: file)
  }

  /// Compares the vault that was just opened with what this machine saw last.
  mutating func checkSeen(
    acceptingRollback: Bool, acceptingExchange: Bool
  ) throws(VaultError) {
    let file = try openSeenFile()
    guard let file else {
      try checkPlace(lastAt: nil, acceptingExchange)
      noteProof(nil)
      return try accept(acceptingRollback) { vault throws(VaultError) in try vault.checkMemory() }
    }
    // Another engine may have committed and noted that since the root was read. Noted is only what was
    // committed before, so a root that is read now, under the lock, is no older than the note.
    try reading { _ throws(VaultError) in }
    if file.isDamaged { notices.insert(.seenDamaged) }
    if file.latest == nil, !file.isDamaged {
      let isKnown = try PlaceFile(in: options.stateDirectory).knows(id)
      notices.insert(isKnown ? .seenGone : .firstSeen)
    }
    noteProof(file.latest)
    let seen = file.latest ?? file.newerClaim(than: trust.root.epoch)
    try checkPlace(lastAt: (file.latest ?? file.claim)?.path, acceptingExchange)
    try accept(acceptingRollback) { vault throws(VaultError) in
      if let seen { try vault.check(seen) }
      try vault.checkMemory()
    }
    do throws(VaultError) {
      try PlaceFile(in: options.stateDirectory).note(id, at: noted(path: place.path))
    } catch {
      // What somebody else has hold of now is noted at the next unlock.
      if error != .busy { notices.insert(.seenNotKept) }
    }
    if let latest = file.latest {
      if latest.epoch == trust.root.epoch, latest.fingerprint == trust.fingerprint,
        latest.path == noted(path: place.path), !file.hasForeignRecord
      {
        adopt(latest)
        return
      }
    }
    do { try note(in: file) } catch {
      guard error == .diskFull else { throw error }
      notices.insert(.seenNotKept)
    }
  }

  /// Notes whether what this machine wrote last, or this engine remembers, is this state of the file.
  private mutating func noteProof(_ seen: SeenRecord?) {
    isProved = [seen, options.memory?.state(of: id)].contains { record in
      record?.epoch == trust.root.epoch && record?.fingerprint == trust.fingerprint
        && record?.isOwn == true
    }
    if !isProved { isProved = isWritten(after: seen) }
    provedDevice = trust.root.copy?.device
  }

  /// Runs a check whose failure the vault's owner may have accepted.
  private mutating func accept(
    _ isAccepted: Bool, _ check: (borrowing UnlockedVault) throws(VaultError) -> Void
  ) throws(VaultError) {
    do throws(VaultError) { try check(self) } catch {
      guard isAccepted else { throw error }
      notices.insert(.rollbackAccepted)
    }
  }

  /// Compares the vault with what this engine knew of it when it locked it.
  private func checkMemory() throws(VaultError) {
    if let known = options.memory?.state(of: id) { try check(known) }
  }

  /// Has the engine remember the state at hand.
  func remember() {
    options.memory?.note(record(after: 0, logHead: .zero))
  }

  /// Notes a state that is about to be committed under other keys, beside what there is to note under
  /// these: whichever of the two a kill leaves behind finds its own record.
  ///
  /// - Parameter logHead: The end of the log under the other keys.
  /// - Returns: The file, locked until this is dropped; nil where this machine can keep no state.
  mutating func noteAhead(
    _ next: Trust, _ nextKeys: borrowing Keyring, logHead: Digest
  ) throws(VaultError) -> SeenFile? {
    guard let file = try openSeenFile() else { return nil }
    let record = SeenRecord(
      counter: (file.latest?.counter ?? 0) &+ 1, vault: id, epoch: next.root.epoch,
      fingerprint: next.fingerprint, logHead: logHead, time: options.now(),
      path: Array(place.path.utf8))
    try file.write(record, key: nextKeys.seen)
    return file
  }

  /// Notes how far the access log goes, whatever else there is to note.
  mutating func noteLogHead() throws(VaultError) {
    guard let head = log.unnoted, let file = try openSeenFile() else { return }
    guard var latest = file.latest, latest.epoch > trust.root.epoch else {
      if let latest = file.latest { try check(latest) }
      return try note(in: file)
    }
    // Another engine is ahead: what it saw stands.
    latest.counter &+= 1
    latest.logHead = head
    try file.write(latest, key: keys.seen)
    adopt(latest)
    log.unnoted = nil
  }

  /// What the seen file has of the access log; zero where that is nothing.
  func seenLogHeadNow() -> Digest {
    SeenFile.look(at: id, in: options.stateDirectory, key: keys.seen)?.logHead ?? .zero
  }

  /// Opens the seen file.
  ///
  /// - Returns: nil, which is noted, where this machine can keep no state: it can still use its vaults.
  private mutating func openSeenFile() throws(VaultError) -> SeenFile? {
    do {
      return try SeenFile.open(id, in: options.stateDirectory, key: keys.seen)
    } catch {
      guard error.isOfMachine else { throw error }
      notices.insert(.seenNotKept)
      return nil
    }
  }

  private func check(_ seen: SeenRecord) throws(VaultError) {
    guard options.checks.contains(.seen) else { return }
    if seen.epoch > trust.root.epoch {
      throw .rolledBack(SeenCopy(seen), epoch: trust.root.epoch)
    }
    if seen.epoch == trust.root.epoch, seen.fingerprint != trust.fingerprint {
      throw .forked(SeenCopy(seen), epoch: trust.root.epoch)
    }
  }

  private mutating func note(in file: borrowing SeenFile) throws(VaultError) {
    let record = record(
      after: file.latest?.counter ?? 0, logHead: log.unnoted ?? file.latest?.logHead ?? .zero)
    try file.write(record, key: keys.seen)
    adopt(record)
    log.unnoted = nil
  }

  private mutating func adopt(_ record: SeenRecord) {
    seenEpoch = record.epoch
    seenCounter = record.counter
    seenLogHead = record.logHead
  }

  private borrowing func record(after counter: UInt64, logHead: Digest) -> SeenRecord {
    SeenRecord(
      counter: counter &+ 1, vault: id, epoch: trust.root.epoch, fingerprint: trust.fingerprint,
      logHead: logHead, time: options.now(), path: Array(place.path.utf8), isOwn: isProved)
  }

  /// A path as a record keeps it.
  func noted(path: String) -> [UInt8] {
    Array(path.utf8.suffix(SeenRecord.longestPath))
  }
}
