// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Opens the file of a vault's access log on this machine, and holds it under its lock.
struct LogFile: ~Copyable {
  let file: StateFile
  let place: FilePlace

  private static func name(of vault: VaultID) -> String { vault.hexadecimal + ".log" }

  /// Where the log of a vault stands.
  static func place(
    of vault: VaultID, in directory: String
  ) throws(StorageError) -> FilePlace {
    try StatePlace.file(name(of: vault), in: directory)
  }

  /// Opens the file and locks it.
  ///
  /// - Parameters:
  ///   - creating: Whether it is made when it is missing.
  ///   - patience: Milliseconds to wait for another engine.
  /// - Throws: ``VaultError/noVault`` when it is missing, ``VaultError/busy``, and those of the file.
  static func open(
    _ vault: VaultID, in directory: String, creating: Bool, patience: Int = 0
  ) throws(VaultError) -> LogFile {
    do throws(StorageError) {
      if creating { try FilePlace.makeDirectory(directory) }
      let place = try place(of: vault, in: directory)
      for _ in 0..<8 {
        let file = try StateFile.open(
          place, lock: .exclusive, creating: creating, patience: patience)
        // Who shortens the log puts another file in its place.
        if file.isStill(at: place) { return LogFile(file: file, place: place) }
      }
      throw .busy
    } catch { throw VaultError(error, ofState: name(of: vault), in: directory) }
  }

  /// Opens a log once more, to read it without the lock.
  static func reading(_ place: FilePlace) throws(VaultError) -> StateFile {
    try fromStorage(StateFile.reading(place))
  }

  /// Where a new log is written before it takes the place of this one.
  var draft: FilePlace { place.sibling(place.name + ".new") }

  /// What is added to the name of a log that nobody can read.
  static let asides = [".old"] + (2...9).map { ".old.\($0)" }

  /// Moves a log aside that nobody can read, and over none that was before it as long as there are names.
  borrowing func moveAside() throws(StorageError) {
    for name in Self.asides {
      do throws(StorageError) { return try place.sibling(place.name + name).publish(place) } catch {
        guard error == .exists else { throw error }
      }
    }
    throw .exists
  }

  /// The head that says where the log begins.
  borrowing func head() throws(VaultError) -> [UInt8] {
    try fromStorage(file.bytes(at: 0, count: LogStart.byteCount))
  }

  borrowing func byteCount() throws(VaultError) -> Int {
    try fromStorage(file.byteCount())
  }
}

/// Tells what a scan of a log comes to next.
enum LogPart {
  /// A whole frame, and where it begins.
  case frame(LogFrame, at: Int)
  /// Bytes that are no frame, with frames or the end behind them.
  case junk(Int)
  /// The beginning of a frame, or zeros: a write that was cut off.
  case torn(Int)
}

/// Walks over the frames of a log.
struct LogScanner {
  private static let windowCount = 65_536

  /// Where the next part begins.
  private(set) var offset: Int
  private let end: Int
  private var window: [UInt8] = []
  private var windowStart = 0

  init(from offset: Int, to end: Int) {
    self.offset = offset
    self.end = end
  }

  /// The next part; nil at the end.
  mutating func next(in file: borrowing StateFile) throws(VaultError) -> LogPart? {
    guard offset < end else { return nil }
    let start = offset
    if let frame = try frame(at: start, in: file) {
      guard frame.frameByteCount <= end - start else {
        offset = end
        return .torn(end - start)
      }
      offset += frame.frameByteCount
      return .frame(frame, at: start)
    }
    if try isUnwritten(from: start, in: file) {
      offset = end
      return .torn(end - start)
    }
    offset = try nextFrame(from: start + 1, in: file)
    return .junk(offset - start)
  }

  /// Walks to the end, and finds the last frame that says where it stands.
  ///
  /// - Returns: nil where there is none, or where something is no frame.
  mutating func lastBlock(
    in file: borrowing StateFile
  ) throws(VaultError) -> (head: LogFrame, start: Int)? {
    var last: (head: LogFrame, start: Int)?
    while let part = try next(in: file) {
      guard case .frame(let head, let start) = part else { return nil }
      if head.kind == .entries { last = (head, start) }
    }
    return last
  }

  /// Reads from an earlier place once more.
  mutating func goBack(to place: Int) { offset = place }

  /// Bytes of the file.
  mutating func bytes(
    at start: Int, count: Int, in file: borrowing StateFile
  ) throws(VaultError) -> [UInt8] {
    try look(at: start, count: count, in: file)
    return Array(window.dropFirst(start - windowStart).prefix(count))
  }

  /// Sees to it that the window has bytes of the file, as far as there are any.
  private mutating func look(
    at start: Int, count: Int, in file: borrowing StateFile
  ) throws(VaultError) {
    guard start < windowStart || start + count > windowStart + window.count else { return }
    window = try fromStorage(
      file.bytes(at: start, count: max(count, min(Self.windowCount, end - start))))
    windowStart = start
  }

  private mutating func frame(
    at start: Int, in file: borrowing StateFile
  ) throws(VaultError) -> LogFrame? {
    let head = try bytes(at: start, count: min(LogFrame.byteCount, end - start), in: file)
    return LogFrame(head.span)
  }

  /// Where the next whole frame begins; the end where there is none.
  private mutating func nextFrame(
    from start: Int, in file: borrowing StateFile
  ) throws(VaultError) -> Int {
    var place = start
    while place + LogFrame.byteCount <= end {
      try look(at: place, count: LogFrame.byteCount, in: file)
      let next = frameInWindow(from: place)
      if next.isFrame { return next.place }
      guard next.place > place else { break }
      place = next.place
    }
    return end
  }

  /// The first whole frame whose head is in the window, or the first place whose head is not.
  private func frameInWindow(from start: Int) -> (place: Int, isFrame: Bool) {
    let bytes = window.span
    var place = start
    while place - windowStart + LogFrame.byteCount <= bytes.count {
      let index = place - windowStart
      let head = LogFrame(bytes.extracting(index..<index + LogFrame.byteCount))
      if let head, head.frameByteCount <= end - place { return (place, true) }
      place += 1
    }
    return (place, false)
  }

  /// Less than a head, or room that a crash left unwritten.
  private mutating func isUnwritten(
    from start: Int, in file: borrowing StateFile
  ) throws(VaultError) -> Bool {
    if end - start < LogFrame.byteCount { return true }
    var place = start
    while place < end {
      let part = try bytes(at: place, count: min(Self.windowCount, end - place), in: file)
      guard !part.isEmpty, !part.contains(where: { $0 != 0 }) else { return false }
      place += part.count
    }
    return true
  }
}
