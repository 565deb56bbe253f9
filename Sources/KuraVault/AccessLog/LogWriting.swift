// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Writes the entries that wait, and drops the oldest ones beyond what the owner keeps.
  ///
  /// - Parameters:
  ///   - sync: Whether to wait for the disk.
  ///   - patience: Milliseconds to wait for another engine.
  /// - Throws: ``VaultError/busy`` and those of the file: the entries wait on, as far as there is room;
  ///   ``VaultError/replaced`` when the log is under the keys that another engine gave the vault.
  public mutating func flushLog(sync: Bool, patience: Int = 0) throws(VaultError) {
    guard policy[.logEntries] > 0 else { return try removeLog() }
    guard log.count > 0 || sync && log.isDirty else { return }
    let file = try LogFile.open(
      id, in: options.stateDirectory, creating: true, patience: patience)
    let end = try locate(file)
    try writeWaiting(to: file, end)
    if sync || isLogTooLong { try syncLog(file) }
    if isLogTooLong { try shorten(file) }
  }

  private mutating func writeWaiting(
    to file: borrowing LogFile, _ end: LogPosition
  ) throws(VaultError) {
    if log.lost > 0 {
      let lost = log.lost
      log.clearLost()
      remark(.lost, lost)
    }
    var position = end
    while log.count > 0 {
      let frame = try log.frame(after: position.chain, number: position.number, keys.log)
      do { try file.file.put(frame.bytes.span, at: position.offset) } catch {
        // What there is of it would be taken for a write that a crash cut off.
        try? file.file.cut(to: position.offset)
        throw VaultError(error)
      }
      try position.pass(frame.bytes, count: frame.count)
      log.position = position
      log.isDirty = true
      log.drop(frame.count)
    }
  }

  /// Has what was written of the log on the disk, so that its end can be noted.
  private mutating func syncLog(_ file: borrowing LogFile) throws(VaultError) {
    guard let position = log.position else { return }
    try fromStorage(file.file.sync())
    log.isDirty = false
    log.unnoted = position.chain
  }

  /// Reads the log from its beginning, with all that waited written and noted.
  ///
  /// - Returns: nil where there is no log.
  /// - Throws: ``VaultError/busy`` and those of the file; ``VaultError/damaged(_:)`` when not even its head
  ///   can be read.
  public mutating func readLog() throws(VaultError) -> LogReader? {
    try flushLog(sync: true)
    do throws(VaultError) { try noteLogHead() } catch {
      guard error != .busy else { throw error }
    }
    guard hasLogFile else { return nil }
    let file = try LogFile.open(id, in: options.stateDirectory, creating: false)
    return try reader(of: file)
  }

  /// A reader of the file as it is now, which holds up nobody.
  mutating func reader(of file: borrowing LogFile) throws(VaultError) -> LogReader {
    let (head, end) = (try file.head(), try file.byteCount())
    let start = try start(in: head)
    let noted = notedLogHead()
    return LogReader(try LogFile.reading(file.place), start, to: end, noted: noted)
  }

  private func start(in head: [UInt8]) throws(VaultError) -> LogStart {
    try fromFormat(.header, LogStart(decoding: head.span, keys.log))
  }
}

// MARK: - The end of the file

extension UnlockedVault {
  /// Finds the end of the log, behind what other engines wrote meanwhile.
  mutating func locate(_ file: borrowing LogFile) throws(VaultError) -> LogPosition {
    let (head, end) = (try file.head(), try file.byteCount())
    var wasCut = false
    if var position = log.position, position.head == head {
      if end == position.offset { return position }
      wasCut = end < position.offset
      if !wasCut {
        try follow(&position, to: end, in: file)
        log.position = position
        return position
      }
    }
    let position = try load(file, head, end, wasCut: wasCut)
    log.position = position
    return position
  }

  /// Moves a position behind frames that other engines wrote.
  private mutating func follow(
    _ position: inout LogPosition, to end: Int, in file: borrowing LogFile
  ) throws(VaultError) {
    var scanner = LogScanner(from: position.offset, to: end)
    while let part = try scanner.next(in: file.file) {
      switch part {
      case .frame(let head, let start):
        position.offset = start
        let frame = try scanner.bytes(at: start, count: head.frameByteCount, in: file.file)
        try position.pass(frame, count: Int(head.count))
      case .junk(let count): position.offset += count
      case .torn(let count): try cutTorn(count, at: position.offset, in: file)
      }
    }
  }

  private mutating func cutTorn(
    _ count: Int, at offset: Int, in file: borrowing LogFile
  ) throws(VaultError) {
    try fromStorage(file.file.cut(to: offset))
    remark(.torn, UInt64(count))
  }

  private mutating func load(
    _ file: borrowing LogFile, _ head: [UInt8], _ end: Int, wasCut: Bool
  ) throws(VaultError) -> LogPosition {
    let start: LogStart
    do throws(FormatError) { start = try LogStart(decoding: head.span, keys.log) } catch {
      guard error == .damaged else { throw VaultError(error, about: .header) }
      return try begin(file, wasEmpty: end == 0)
    }
    removeStaleDraft(of: file)
    var position = LogPosition(
      head: head, start: start, offset: end, chain: start.chain, number: start.dropped + 1)
    if !wasCut, try hasKnownEnd(&position, in: file) { return position }
    // Something is not as usual: all is read.
    position.offset = end
    var reader = try reader(of: file)
    let torn = try reader.finish(keys.log)
    position.offset -= torn
    (position.chain, position.number) = (reader.chain, reader.number)
    if wasCut || !reader.isComplete { remark(.cut) }
    if torn > 0 { try cutTorn(torn, at: position.offset, in: file) }
    return position
  }

  /// Removes what a rekey or a shortening left that was killed before it counted.
  private mutating func removeStaleDraft(of file: borrowing LogFile) {
    guard (try? file.draft.identity()) != nil else { return }
    guard (try? reading { _ throws(VaultError) in }) != nil else { return }
    file.draft.remove()
  }

  /// Finds the log's end by its last block, where that ends as this machine has noted.
  ///
  /// - Parameter position: The end of the file; its place in the chain is filled in.
  private mutating func hasKnownEnd(
    _ position: inout LogPosition, in file: borrowing LogFile
  ) throws(VaultError) -> Bool {
    var scanner = LogScanner(from: LogStart.byteCount, to: position.offset)
    guard let last = try scanner.lastBlock(in: file.file) else { return false }
    guard try goTo(last.head, at: last.start, &position, &scanner, in: file) else { return false }
    let noted = notedLogHead()
    var isKnown = noted == .zero || noted == position.chain
    scanner.goBack(to: last.start)
    while let part = try scanner.next(in: file.file) {
      guard case .frame(let head, let start) = part else { return false }
      let frame = try scanner.bytes(at: start, count: head.frameByteCount, in: file.file)
      try position.pass(frame, count: Int(head.count))
      if position.chain == noted { isKnown = true }
    }
    return isKnown
  }

  /// Moves a position to a block that names its own place in the chain.
  private func goTo(
    _ head: LogFrame, at start: Int, _ position: inout LogPosition, _ scanner: inout LogScanner,
    in file: borrowing LogFile
  ) throws(VaultError) -> Bool {
    let frame = try scanner.bytes(at: start, count: head.frameByteCount, in: file.file)
    do throws(FormatError) {
      let block = try LogBlock.open(frame.span, keys.log)
      (position.chain, position.number, position.offset) = (block.chain, block.number, start)
      return block.isPlaced
    } catch { return false }
  }

  /// Begins a log in an empty file, or sees to it that there is one in the place of a file that cannot be
  /// read.
  ///
  /// - Throws: ``VaultError/busy`` in the latter case: the file is to be opened anew.
  private mutating func begin(
    _ file: borrowing LogFile, wasEmpty: Bool
  ) throws(VaultError) -> LogPosition {
    if !wasEmpty { try replaceUnreadable(file) }
    let start = try LogStart.fresh(at: options.now())
    let head = try start.encoded(keys.log)
    do {
      try file.file.put(head.span, at: 0)
      try file.place.syncDirectory()
    } catch { throw VaultError(error) }
    if let dropped = entriesSwitchedOff() {
      remark(.switchedOff, dropped)
    } else {
      remark(notedLogHead() == .zero && log.position == nil ? .begun : .cut)
    }
    return LogPosition(
      head: head, start: start, offset: head.count, chain: start.chain, number: start.dropped + 1)
  }

  private mutating func replaceUnreadable(_ file: borrowing LogFile) throws(VaultError) {
    // It may be that these keys are the ones that are not the vault's any more.
    try reading { _ throws(VaultError) in }
    let isRekeyed = try isRekeyed(file.draft)
    do throws(StorageError) {
      if isRekeyed {
        try file.place.replace(with: file.draft)
      } else {
        try file.moveAside()
        remark(.unreadable)
      }
    } catch { throw VaultError(error) }
    throw .busy
  }

  /// Whether a draft is what a rekey that was killed behind its commit left: the log under the new key,
  /// with the end that it had noted.
  private func isRekeyed(_ draft: FilePlace) throws(VaultError) -> Bool {
    guard let file = try? StateFile.reading(draft), let end = try? file.byteCount(),
      let head = try? file.bytes(at: 0, count: LogStart.byteCount),
      let start = try? LogStart(decoding: head.span, keys.log)
    else { return false }
    var reader = LogReader(file, start, to: end, noted: notedLogHead())
    _ = try reader.finish(keys.log)
    return reader.isComplete
  }
}
