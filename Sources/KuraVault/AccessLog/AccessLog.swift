// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
internal import SecureMemory

extension LogRemark {
  /// The remark as an entry holds it.
  func detail(_ number: UInt64 = 0) -> UInt64 { UInt64(rawValue) | number << 8 }
}

/// Keeps the entries that an unlocked vault has yet to write to its access log, in guarded memory, and where
/// they go.
struct AccessLog: ~Copyable {
  /// Entries that wait for a disk that takes none, before they are given up.
  static let mostWaiting = 1_024
  /// The most bytes that all of them take.
  private static let mostWaitingBytes = 1_048_576

  private var waiting: SecretBuffer?
  /// Where each waiting entry ends.
  private var ends: [Int] = []
  /// Entries that were given up.
  private(set) var lost: UInt64 = 0
  /// Where the next frame goes; nil before the file was looked at.
  var position: LogPosition?
  /// The chain's end as it is on the disk, where the seen file does not have it yet.
  var unnoted: Digest?
  /// Whether frames were written that are not on the disk yet.
  var isDirty = false
  /// Whether the owner wants no log.
  var isUnwanted = false

  init() {}

  var count: Int { ends.count }

  /// Adds an entry to those that wait.
  mutating func append(_ facts: LogFacts, name: Span<UInt8>, other: Span<UInt8>) {
    guard ends.count < Self.mostWaiting else {
      lost += 1
      return
    }
    do {
      var buffer = try waiting.take() ?? SecretBuffer(capacity: 4_096)
      let before = buffer.count
      do {
        try buffer.append(facts, name: name, other: other)
        if buffer.count > Self.mostWaitingBytes { throw FormatError.outOfMemory }
        ends.append(buffer.count)
      } catch {
        buffer.removeLast(buffer.count - before)
        lost += 1
      }
      waiting = consume buffer
    } catch { lost += 1 }
  }

  /// Adds an entry in front of those that wait.
  mutating func prepend(_ facts: LogFacts) {
    do {
      var buffer = try SecretBuffer(capacity: 4_096)
      try buffer.append(facts, name: Span(), other: Span())
      let count = buffer.count
      if let behind = waiting.take() { try buffer.append(behind.bytes) }
      ends = [count] + ends.map { $0 + count }
      waiting = consume buffer
    } catch {
      // Without memory for one there is none for the others.
      lost += 1 + UInt64(ends.count)
      ends = []
    }
  }

  /// Seals the next block.
  ///
  /// - Parameter skipped: Entries in front that were sealed before and still wait.
  borrowing func frame(
    skipping skipped: Int = 0, after chain: Digest, number: UInt64, _ keys: borrowing LogKeys
  ) throws(VaultError) -> (bytes: [UInt8], count: Int) {
    let count = min(ends.count - skipped, LogFrame.mostEntries)
    let start = skipped == 0 ? 0 : ends[skipped - 1]
    let bytes = start..<ends[skipped + count - 1]
    switch waiting {
    case .some(let buffer):
      do {
        let frame = try LogBlock.frame(
          buffer.bytes.extracting(bytes), count: count, after: chain, number: number, keys)
        return (frame, count)
      } catch { throw VaultError(error, about: .header) }
    case .none: throw .outOfMemory
    }
  }

  /// Forgets entries that were written.
  mutating func drop(_ count: Int) {
    guard count > 0, var buffer = waiting.take() else { return }
    let bytes = ends[count - 1]
    buffer.removeFirst(bytes)
    ends.removeFirst(count)
    for index in ends.indices { ends[index] -= bytes }
    waiting = consume buffer
  }

  /// Forgets all entries that wait.
  mutating func dropAll() { drop(ends.count) }

  mutating func clearLost() { lost = 0 }

  mutating func addLost(_ count: UInt64) { lost += count }
}

/// Remembers where a log ends.
struct LogPosition {
  /// The head of the log's file, which tells it from any other log's.
  var head: [UInt8]
  var start: LogStart
  /// The file's length, in bytes.
  var offset: Int
  /// The chain's value there.
  var chain: Digest
  /// The next entry's number.
  var number: UInt64

  /// How many entries the file has.
  var kept: UInt64 { number - 1 - start.dropped }

  /// Goes behind a frame.
  mutating func pass(_ frame: [UInt8], count: Int) throws(VaultError) {
    chain = try fromFormat(.header, LogChain.next(after: chain, frame.span))
    offset += frame.count
    number += UInt64(count)
  }
}

// MARK: - Entries

extension UnlockedVault {
  /// Notes an entry for the access log of this machine; ``flushLog(sync:patience:)`` writes it.
  ///
  /// - Parameters:
  ///   - facts: What it says.
  ///   - name: The item's name, empty for none.
  ///   - other: Another name that it is about.
  public mutating func note(_ facts: LogFacts, name: Span<UInt8>, other: Span<UInt8>) {
    guard policy[.logEntries] > 0 else {
      log.isUnwanted = true
      return
    }
    log.isUnwanted = false
    log.append(facts, name: name, other: other)
  }

  /// Has the log say that entries were lost before.
  public mutating func noteLostEntries(_ count: UInt64) { log.addLost(count) }

  /// How many entries wait to be written.
  public var waitingLogEntries: Int { log.count }

  /// Whether there is something for ``flushLog(sync:patience:)`` to do.
  public var needsLogFlush: Bool { log.count > 0 || log.isUnwanted }

  /// Puts a remark of the log about itself in front of what waits.
  mutating func remark(_ remark: LogRemark, _ number: UInt64 = 0) {
    log.prepend(LogFacts(time: options.now(), verb: 0, detail: remark.detail(number)))
  }
}
