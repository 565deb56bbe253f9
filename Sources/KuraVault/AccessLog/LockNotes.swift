// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Writes what is left to write of a vault that was locked, sealed while the keys were there: the last entries
/// of the access log, and the newest state.
public struct LockNotes: Sendable {
  fileprivate let tail: LogTail?
  /// The seen file's record for a log that ends as was expected: it has the log's new end.
  fileprivate let note: SeenNote?
  /// The seen file's record for any other case, without the log's end.
  fileprivate let plainNote: SeenNote?
  /// Entries that were lost before.
  fileprivate let lost: UInt64

  /// Writes it all and waits for the disk; what cannot be written now is lost.
  ///
  /// - Returns: How many entries of the access log were lost.
  @discardableResult
  public func write() -> UInt64 {
    let outcome = tail?.write() ?? .atEnd
    try? (outcome == .atEnd ? note : plainNote)?.write()
    return outcome == .lost ? lost + UInt64(tail?.count ?? 0) : lost
  }
}

/// Holds frames that are sealed already, to be put at the end of a log.
private struct LogTail: Sendable {
  /// Says what came of the frames.
  enum Outcome {
    /// They are in the log, which ends as was expected.
    case atEnd
    /// They are in the log, behind what others wrote.
    case elsewhere
    case lost
  }

  /// How long another engine is waited for, in milliseconds.
  private static let patience = 50

  let vault: VaultID
  let directory: String
  /// The file's head and length that the frames were sealed for; nil where they are not known.
  let place: (head: [UInt8], offset: Int)?
  /// The frames for that place.
  let frames: [[UInt8]]
  /// The same entries sealed for any other place in the log.
  let unplaced: [[UInt8]]
  /// Which keys they are sealed under: a log with another half is under others.
  let publicHalf: [UInt8]
  /// How many entries they are.
  let count: Int

  func write() -> Outcome {
    do {
      let file = try LogFile.open(vault, in: directory, creating: false, patience: Self.patience)
      let head = try file.head()
      if let place, try file.byteCount() == place.offset, head == place.head {
        try put(frames, at: place.offset, in: file)
        return .atEnd
      }
      guard try LogStart.publicHalf(in: head.span, vault: vault) == publicHalf else { return .lost }
      let end = try LockedLog.end(of: file).offset
      // A write that was cut off.
      if try file.byteCount() > end { try file.file.cut(to: end) }
      try put(unplaced, at: end, in: file)
      return .elsewhere
    } catch { return .lost }
  }

  private func put(
    _ frames: [[UInt8]], at end: Int, in file: borrowing LogFile
  ) throws(StorageError) {
    var bytes: [UInt8] = []
    for frame in frames { bytes += frame }
    do {
      try file.file.put(bytes.span, at: end)
      try file.file.sync()
    } catch {
      try? file.file.cut(to: end)
      throw error
    }
  }
}

extension UnlockedVault {
  /// What is left to write once the keys are gone.
  public var lockNotes: LockNotes {
    let waiting: (tail: LogTail, end: Digest?)?
    var lost = log.lost
    do { waiting = try logTail() } catch {
      waiting = nil
      lost += UInt64(log.count)
    }
    let plain = seenNote(logEnd: log.unnoted)
    guard let waiting else {
      return LockNotes(tail: nil, note: plain, plainNote: plain, lost: lost)
    }
    return LockNotes(
      tail: waiting.tail, note: seenNote(logEnd: waiting.end), plainNote: plain, lost: lost)
  }

  /// The frames that wait, and the chain's end behind them.
  private func logTail() throws(VaultError) -> (tail: LogTail, end: Digest?)? {
    guard log.count > 0 || log.isDirty, policy[.logEntries] > 0 else { return nil }
    var position = log.position
    let place = position.map { (head: $0.head, offset: $0.offset) }
    var (frames, unplaced): ([[UInt8]], [[UInt8]]) = ([], [])
    var done = 0
    while done < log.count {
      if var next = position {
        let frame = try log.frame(
          skipping: done, after: next.chain, number: next.number, keys.log)
        try next.pass(frame.bytes, count: frame.count)
        frames.append(frame.bytes)
        position = next
      }
      let spare = try log.frame(skipping: done, after: .zero, number: 0, keys.log)
      unplaced.append(spare.bytes)
      done += spare.count
    }
    let tail = LogTail(
      vault: id, directory: options.stateDirectory, place: place, frames: frames,
      unplaced: unplaced, publicHalf: keys.log.publicHalf, count: log.count)
    return (tail, position?.chain)
  }
}
