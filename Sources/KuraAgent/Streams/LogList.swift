// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Tells the entries of the access log and what is wrong with it, some of them a slice.
final class LogList: Stream {
  /// Bytes after which a batch is sent.
  private static let sliceBytes = 40_000
  /// Parts of the file that a slice reads at most: a few milliseconds.
  private static let sliceParts = 256

  let session: Session
  let isUse = false
  private var reader: LogReader?
  private var isFirst = true

  init(_ reader: consuming LogReader?, of session: Session) {
    self.reader = consume reader
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    guard var reader = reader.take() else {
      try write { () throws(ProtocolError) in try outbox.frames.putEnd() }
      return false
    }
    let start = outbox.frames.count
    let batch = try write { () throws(ProtocolError) in try outbox.frames.openBatch() }
    var count = 0
    if isFirst {
      isFirst = false
      try write { () throws(ProtocolError) in try outbox.frames.putLogDropped(reader.dropped) }
      count = 1
    }
    let hasMore = try fill(&outbox.frames, from: &reader, in: vault, start, &count)
    if count > 0 {
      try write { () throws(ProtocolError) in try outbox.frames.closeBatch(batch, count: count) }
    } else {
      outbox.frames.removeLast(outbox.frames.count - start)
    }
    if hasMore { self.reader = consume reader }
    return true
  }

  private func fill(
    _ output: inout SecretBuffer, from reader: inout LogReader, in vault: borrowing UnlockedVault,
    _ start: Int, _ count: inout Int
  ) throws(VaultError) -> Bool {
    for _ in 0..<Self.sliceParts where output.count - start < Self.sliceBytes {
      guard let item = try reader.next(in: vault) else { return false }
      switch consume item {
      case .page(let page): count += try put(page, &output)
      case .finding(let finding):
        try write { () throws(ProtocolError) in
          try output.putLogFinding(
            finding.flaw, number: finding.number, count: finding.count)
        }
        count += 1
      }
    }
    return true
  }

  private func put(
    _ page: consuming LogPage, _ output: inout SecretBuffer
  ) throws(VaultError) -> Int {
    var number = page.first
    while let entry = try page.next() {
      try write { () throws(ProtocolError) in
        try output.putLogEntry(
          entry.facts, number: number, wasLocked: page.wasLocked,
          name: page.entries.name(of: entry), other: page.entries.other(of: entry))
      }
      number += 1
    }
    return Int(number - page.first)
  }
}
