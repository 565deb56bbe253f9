// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

/// Tells of a flaw in an access log, and where it is.
public struct LogFinding: Equatable, Sendable {
  /// What is wrong.
  public let flaw: LogFlaw
  /// The number of the entry at that place.
  public let number: UInt64
  /// How many entries it is about, or bytes where they cannot be told.
  public let count: UInt64
}

/// Hands out entries of an access log that were written together.
public struct LogPage: ~Copyable, Sendable {
  /// The entries.
  public var entries: LogEntries
  /// The number of the first.
  public let first: UInt64
  /// How many they are.
  public let count: Int
  /// Whether the vault was locked, so that nothing but their place vouches for them.
  public let wasLocked: Bool

  /// The next entry; nil behind the last one.
  ///
  /// - Throws: ``VaultError/damaged(_:)``.
  public mutating func next() throws(VaultError) -> LogEntries.Entry? {
    try fromFormat(.header, entries.next())
  }
}

/// Tells what the reader of an access log comes to next.
public enum LogItem: ~Copyable, Sendable {
  /// Entries.
  case page(LogPage)
  /// Something that is wrong.
  case finding(LogFinding)
}

/// Reads an access log front to back, as it was when the reading began.
public struct LogReader: ~Copyable {
  private let file: StateFile
  private var scanner: LogScanner
  /// What the machine has noted as the log's end, zero for nothing.
  private let noted: Digest
  private var hasNoted: Bool
  /// Whether something in front of the next frame is known to be wrong.
  private var isBroken = false
  private var hasEnded = false
  /// The lowest number that a block may have that stands where it was written.
  private var proven: UInt64
  /// Frames that were written without knowing their place, which could be copied.
  private var unplaced: Set<[UInt8]> = []

  /// How many entries were dropped in front.
  public let dropped: UInt64
  /// The chain's value in front of the next frame.
  private(set) var chain: Digest
  /// The number of the next entry.
  public private(set) var number: UInt64

  /// Begins behind the head.
  ///
  /// - Parameter end: How many bytes of the file count.
  init(
    _ file: consuming StateFile, _ start: LogStart, to end: Int, noted: Digest
  ) {
    self.file = file
    scanner = LogScanner(from: LogStart.byteCount, to: end)
    self.noted = noted
    hasNoted = noted == .zero || noted == start.chain
    dropped = start.dropped
    chain = start.chain
    number = start.dropped &+ 1
    proven = number
  }

  /// Whether what the machine had noted was met.
  var isComplete: Bool { hasNoted }

  /// The next part; nil at the end.
  mutating func next(_ keys: borrowing LogKeys) throws(VaultError) -> LogItem? {
    guard let part = try scanner.next(in: file) else { return end() }
    switch part {
    case .frame(let head, let start): return try read(head, at: start, keys)
    case .junk(let count):
      isBroken = true
      return finding(.damaged, count)
    case .torn(let count): return finding(.torn, count)
    }
  }

  /// Reads to the end.
  ///
  /// - Returns: The bytes of a write there that was cut off.
  mutating func finish(_ keys: borrowing LogKeys) throws(VaultError) -> Int {
    var torn = 0
    while let item = try next(keys) {
      switch item {
      case .page: break
      case .finding(let finding): if finding.flaw == .torn { torn = Int(finding.count) }
      }
    }
    return torn
  }

  private mutating func end() -> LogItem? {
    guard !hasEnded, !hasNoted else { return nil }
    hasEnded = true
    return finding(.cut, 0)
  }

  private func finding(_ flaw: LogFlaw, _ count: Int) -> LogItem {
    .finding(LogFinding(flaw: flaw, number: number, count: UInt64(count)))
  }

  private mutating func read(
    _ head: LogFrame, at start: Int, _ keys: borrowing LogKeys
  ) throws(VaultError) -> LogItem {
    let frame = try scanner.bytes(at: start, count: head.frameByteCount, in: file)
    let block: LogBlock
    do throws(FormatError) { block = try LogBlock.open(frame.span, keys) } catch {
      guard error == .damaged else { throw VaultError(error, about: .header) }
      let item = finding(.damaged, Int(head.count))
      isBroken = true
      try pass(frame, head)
      return item
    }
    if let flaw = place(block, head, frame, at: start) { return .finding(flaw) }
    let first = number
    try pass(frame, head)
    if block.isPlaced { (proven, isBroken) = (number, false) }
    return .page(
      LogPage(
        entries: block.finish(), first: first, count: Int(head.count),
        wasLocked: head.kind == .locked))
  }

  /// Looks whether a block stands where it was written; what is behind one that does not goes by its
  /// own word.
  private mutating func place(
    _ block: borrowing LogBlock, _ head: LogFrame, _ frame: [UInt8], at start: Int
  ) -> LogFinding? {
    let misplaced = LogFinding(flaw: .misplaced, number: number, count: UInt64(head.count))
    guard block.isPlaced else {
      let mark = Array(frame.dropFirst(LogFrame.byteCount).prefix(88))
      return unplaced.insert(mark).inserted ? nil : misplaced
    }
    guard block.chain != chain else { return nil }
    guard block.number >= proven else { return misplaced }
    let count = block.number > number ? block.number - number : 0
    let isKnown = isBroken && count == 0
    (chain, number) = (block.chain, block.number)
    if isKnown { return nil }
    // It is read again, now that its place is known.
    scanner.goBack(to: start)
    return LogFinding(flaw: count == 0 ? .misplaced : .missing, number: number, count: count)
  }

  private mutating func pass(_ frame: [UInt8], _ head: LogFrame) throws(VaultError) {
    chain = try fromFormat(.header, LogChain.next(after: chain, frame.span))
    number += UInt64(head.count)
    if chain == noted { hasNoted = true }
  }
}

extension LogReader {
  /// The next part of the log; nil at its end.
  ///
  /// - Parameter vault: The vault whose log it is.
  public mutating func next(in vault: borrowing UnlockedVault) throws(VaultError) -> LogItem? {
    try next(vault.keys.log)
  }
}
