// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

// MARK: - Its length

extension UnlockedVault {
  /// Entries that may be there beyond those that are kept, so that the file is not written anew for each.
  private var slack: UInt64 { max(128, policy[.logEntries] / 8) }

  /// Whether the oldest entries are due to be dropped.
  var isLogTooLong: Bool { (log.position?.kept ?? 0) > policy[.logEntries] + slack }

  /// Drops the oldest entries; what is left has its place in the chain.
  ///
  /// The end of the log has been noted before: whenever this is cut off, the end is in the file.
  mutating func shorten(_ file: borrowing LogFile) throws(VaultError) {
    guard var position = log.position else { return }
    try noteLogHead()
    guard let (start, offset) = try beginning(of: position, in: file) else { return }
    let head = try start.encoded(keys.log)
    do {
      let rest = try file.file.bytes(at: offset, count: position.offset - offset)
      try replace(file, with: head + rest)
      position.head = head
      position.start = start
      position.offset = head.count + rest.count
      log.position = position
    } catch { throw VaultError(error) }
  }

  /// The last block from which on there are as many entries as the owner keeps.
  private mutating func beginning(
    of position: LogPosition, in file: borrowing LogFile
  ) throws(VaultError) -> (LogStart, offset: Int)? {
    var scanner = LogScanner(from: LogStart.byteCount, to: position.offset)
    var number = position.start.dropped + 1
    var found: (LogStart, offset: Int)?
    while let part = try scanner.next(in: file.file),
      number + policy[.logEntries] <= position.number
    {
      guard case .frame(let head, let offset) = part else { continue }
      let frame = try scanner.bytes(at: offset, count: head.frameByteCount, in: file.file)
      if let start = start(with: frame, begun: position.start.time) { found = (start, offset) }
      number += UInt64(head.count)
    }
    return found
  }

  /// How a log begins whose first frame is this one; nil for a frame that does not know its place.
  private func start(with frame: [UInt8], begun time: UInt64) -> LogStart? {
    guard let block = try? LogBlock.open(frame.span, keys.log), block.isPlaced else { return nil }
    return LogStart(dropped: block.number - 1, chain: block.chain, time: time)
  }

  /// Ends the log, since its owner wants none.
  mutating func removeLog() throws(VaultError) {
    let kept = log.position?.kept ?? 0
    log.dropAll()
    log.isUnwanted = false
    log.position = nil
    log.isDirty = false
    guard notedLogHead() != .zero || hasLogFile else { return }
    log.unnoted = Digest(switchedOff: kept)
    try noteLogHead()
    guard let place = try? LogFile.place(of: id, in: options.stateDirectory) else { return }
    for name in ["", ".new"] + LogFile.asides { place.sibling(place.name + name).remove() }
    try? place.syncDirectory()
  }

  /// How many entries were dropped when the log was switched off last; nil while there is one, and where
  /// there was none.
  func entriesSwitchedOff() -> UInt64? { seenLogHeadNow().entriesSwitchedOff }

  /// How far the access log went when that was noted last; zero where nothing is noted.
  func notedLogHead() -> Digest {
    let head = seenLogHeadNow()
    return head.entriesSwitchedOff == nil ? head : .zero
  }

  /// Whether this machine has a log of the vault.
  var hasLogFile: Bool {
    let place = try? LogFile.place(of: id, in: options.stateDirectory)
    return (try? place?.identity()) != nil
  }

  private func replace(
    _ file: borrowing LogFile, with bytes: [UInt8]
  ) throws(StorageError) {
    try write(bytes, to: file.draft)
    try file.place.replace(with: file.draft)
  }

  private func write(_ bytes: [UInt8], to place: FilePlace) throws(StorageError) {
    let draft = try StateFile.open(place, lock: .exclusive, creating: true)
    try draft.cut(to: 0)
    try draft.put(bytes.span, at: 0)
    try draft.sync()
  }
}

extension Digest {
  private static let offMark = [UInt8](repeating: 0xFF, count: byteCount - 8)

  /// What the seen file has for the end of a log that was switched off.
  init(switchedOff count: UInt64) {
    var bytes = Digest.offMark
    for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * UInt64(index)))) }
    self.init(bytes.span)
  }

  /// How many entries that dropped; nil for the end of a log.
  var entriesSwitchedOff: UInt64? {
    let bytes = bytes
    guard bytes.starts(with: Digest.offMark) else { return nil }
    return bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

// MARK: - A new vault key

/// Holds a log under the keys that a rekey is about to commit, and the old one under its lock.
struct RekeyedLog: ~Copyable {
  fileprivate let file: LogFile
  /// The end of its chain.
  let end: Digest

  /// Puts it in the place of the old one: the rekey is committed.
  consuming func publish() { try? file.place.replace(with: file.draft) }
}

extension UnlockedVault {
  /// Seals the log anew, beside the one there is.
  ///
  /// - Returns: nil where there is no log, or none that can be taken over: a new one begins then.
  /// - Throws: ``VaultError/busy`` when somebody keeps the file, and those of the disk.
  mutating func rekeyedLog(_ next: borrowing LogKeys) throws(VaultError) -> RekeyedLog? {
    guard policy[.logEntries] > 0 else { return nil }
    do throws(VaultError) {
      try flushLog(sync: false, patience: Self.rekeyPatience)
      let file = try LogFile.open(
        id, in: options.stateDirectory, creating: false, patience: Self.rekeyPatience)
      let (bytes, end) = try resealed(file, next)
      try fromStorage(write(bytes, to: file.draft))
      return RekeyedLog(file: file, end: end)
    } catch {
      if case .damaged = error { return nil }
      guard error.isOfMachine else { throw error }
      return nil
    }
  }

  /// How long a rekey waits for another engine, in milliseconds: all its work would be lost.
  private static var rekeyPatience: Int { 1_000 }

  private mutating func resealed(
    _ file: borrowing LogFile, _ next: borrowing LogKeys
  ) throws(VaultError) -> ([UInt8], Digest) {
    var reader = try reader(of: file)
    return try resealed(&reader, next)
  }

  private func resealed(
    _ reader: inout LogReader, _ next: borrowing LogKeys
  ) throws(VaultError) -> ([UInt8], Digest) {
    var start = try LogStart.fresh(at: options.now())
    start.dropped = reader.dropped
    var bytes = try start.encoded(next)
    var position = LogPosition(
      head: bytes, start: start, offset: bytes.count, chain: start.chain, number: start.dropped + 1)
    var lost: UInt64 = 0
    while let item = try reader.next(keys.log) {
      switch consume item {
      case .page(let page):
        let count = page.count
        let frame = try frame(of: page, at: position, next)
        bytes += frame
        try position.pass(frame, count: count)
      case .finding(let finding): lost += finding.flaw == .torn ? 0 : 1
      }
    }
    let frame = try LogBlock.remark(
      LogFacts(time: options.now(), verb: 0, detail: LogRemark.rekeyed.detail(lost)),
      at: position, next)
    try position.pass(frame, count: 1)
    return (bytes + frame, position.chain)
  }

  /// Entries sealed anew; nothing but their place vouches for those of a locked vault then, either.
  private func frame(
    of page: consuming LogPage, at position: LogPosition, _ next: borrowing LogKeys
  ) throws(VaultError) -> [UInt8] {
    var page = page
    do throws(FormatError) {
      if page.wasLocked, let entry = try page.entries.next() {
        return try LogBlock.lockedFrame(entry.facts, to: next.publicHalf, vault: id)
      }
      return try LogBlock.frame(
        page.entries.encoded, count: page.count, after: position.chain, number: position.number,
        next)
    } catch { throw VaultError(error, about: .header) }
  }
}

extension LogStart {
  /// A log that begins now.
  static func fresh(at time: UInt64) throws(VaultError) -> LogStart {
    try fromFormat(.header, new(at: time))
  }

  /// The head of a log.
  func encoded(_ keys: borrowing LogKeys) throws(VaultError) -> [UInt8] {
    try fromFormat(.header, encode(keys))
  }
}

extension LogBlock {
  /// A block of one entry that names nothing.
  fileprivate static func remark(
    _ facts: LogFacts, at position: LogPosition, _ keys: borrowing LogKeys
  ) throws(VaultError) -> [UInt8] {
    var buffer = try fromMemory(SecretBuffer(capacity: 64))
    do {
      try buffer.append(facts, name: Span(), other: Span())
      return try frame(
        buffer.bytes, count: 1, after: position.chain, number: position.number, keys)
    } catch { throw VaultError(error, about: .header) }
  }
}

// MARK: - While the vault is locked

/// Adds entries to a log whose vault is locked.
public enum LockedLog {
  /// The most entries that wait for the next unlock.
  static let mostEntries = 1_000
  /// The bit of a detail that says: there was no room for another entry.
  static let lastMark: UInt64 = 0x100
  /// How long another engine is waited for, in milliseconds.
  private static let patience = 50

  /// Notes something at a locked vault: sealed to the log's own pair, so that nothing can be read of it
  /// without the vault's key.
  ///
  /// - Parameters:
  ///   - facts: What to note.
  ///   - vault: The vault.
  ///   - directory: Where this machine's state stands.
  /// - Throws: ``VaultError/noVault`` where this machine has no log of the vault; ``VaultError/diskFull``
  ///   when there is no room for more; and those of the file.
  public static func note(
    _ facts: LogFacts, of vault: VaultID, in directory: String
  ) throws(VaultError) {
    let file = try LogFile.open(vault, in: directory, creating: false, patience: patience)
    let head = try file.head()
    let half = try fromFormat(.header, LogStart.publicHalf(in: head.span, vault: vault))
    let (end, waiting) = try end(of: file)
    guard waiting < mostEntries else { throw .diskFull }
    var facts = facts
    if waiting == mostEntries - 1 { facts.detail |= lastMark }
    let frame = try fromFormat(.header, LogBlock.lockedFrame(facts, to: half, vault: vault))
    let isTorn = try file.byteCount() > end
    do {
      if isTorn { try file.file.cut(to: end) }
      try file.file.put(frame.span, at: end)
    } catch { throw VaultError(error) }
  }

  /// Where the last whole frame ends, and how many entries wait there for the next unlock.
  static func end(
    of file: borrowing LogFile
  ) throws(VaultError) -> (offset: Int, waiting: Int) {
    let end = try file.byteCount()
    var scanner = LogScanner(from: LogStart.byteCount, to: end)
    var waiting = 0
    while let part = try scanner.next(in: file.file) {
      switch part {
      case .frame(let head, _): waiting = head.kind == .locked ? waiting + 1 : 0
      case .junk: break
      case .torn(let count): return (end - count, waiting)
      }
    }
    return (end, waiting)
  }
}
