// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// What is left to write of a vault that is being locked, sealed while the keys were there, so that it can
/// be written when they are gone: the last entries of the access log, and the newest state.
public struct LockNotes: Sendable {
  fileprivate let tail: LogTail?
  /// With the log's end, where that is the end that was expected.
  fileprivate let note: SeenNote?
  /// Without it.
  fileprivate let plainNote: SeenNote?

  /// Writes it all and waits for the disk; what cannot be written now is lost.
  public func write() {
    let isAtEnd = tail?.write() ?? true
    try? (isAtEnd ? note : plainNote)?.write()
  }
}

/// Frames that are sealed already.
private struct LogTail: Sendable {
  /// How long another engine is waited for, in milliseconds.
  private static let patience = 50

  let vault: VaultID
  let directory: String
  /// The file's head and length that the frames were sealed for; nil where they are not known.
  let place: (head: [UInt8], offset: Int)?
  /// The frames for that place.
  let frames: [[UInt8]]
  /// The same for any other.
  let unplaced: [[UInt8]]

  /// - Returns: Whether the log ends as was expected.
  func write() -> Bool {
    do {
      let file = try LogFile.open(vault, in: directory, creating: false, patience: Self.patience)
      let end = try file.byteCount()
      let isPlaced = try place.map { try file.head() == $0.head && end == $0.offset } ?? false
      try put(isPlaced ? frames : unplaced, at: end, in: file)
      return isPlaced
    } catch { return false }
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
    guard let (tail, end) = try? logTail() else {
      let note = seenNote(logEnd: log.unnoted)
      return LockNotes(tail: nil, note: note, plainNote: note)
    }
    return LockNotes(
      tail: tail, note: seenNote(logEnd: end), plainNote: seenNote(logEnd: log.unnoted))
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
      unplaced: unplaced)
    return (tail, position?.chain)
  }
}
