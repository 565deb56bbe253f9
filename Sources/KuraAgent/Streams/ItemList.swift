// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Lists the items that a filter lets through, some of them a slice.
final class ItemList: Stream {
  /// How often one slice looks for more items, some 512 at a time: a few milliseconds.
  private static let sliceLooks = 4
  /// Bytes after which a slice is sent: a socket takes as much again before the client has read it.
  private static let sliceBytes = 24_000

  let session: Session
  let isUse = false
  private var listing: Listing
  private var isFirst = true

  init(_ listing: consuming Listing, of session: Session) {
    self.listing = listing
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let start = outbox.frames.count
    // Somebody may wait for the first line.
    var looks = isFirst ? 1 : Self.sliceLooks
    isFirst = false
    while outbox.frames.count - start < Self.sliceBytes {
      if try takeBatch(&outbox.frames) { continue }
      guard looks > 0 else { return true }
      looks -= 1
      guard try listing.advance(in: &vault) else {
        try write { () throws(ProtocolError) in try outbox.frames.putEnd() }
        return false
      }
    }
    return true
  }

  /// Writes the next items that were looked at; false when there are none.
  private func takeBatch(_ output: inout SecretBuffer) throws(VaultError) -> Bool {
    let start = output.count
    let batch = try write { () throws(ProtocolError) in try output.openBatch() }
    var count = 0
    while output.count - start < Self.sliceBytes {
      let hasMore = try listing.takePiece { entries, entryCount throws(VaultError) in
        do throws(SecureMemoryError) { try output.append(entries) } catch { throw .outOfMemory }
        count += entryCount
      }
      guard hasMore else { break }
    }
    guard count > 0 else {
      output.removeLast(output.count - start)
      return false
    }
    try write { () throws(ProtocolError) in try output.closeBatch(batch, count: count) }
    return true
  }
}

/// Lets two threads ask a filter at once.
private final class SharedFilter: Sendable {
  let filter: ItemFilter

  init(_ filter: consuming ItemFilter) { self.filter = filter }
}

extension UnlockedVault {
  /// Begins to list the items that a filter lets through.
  func listing(_ filter: consuming ItemFilter, _ flags: ListRequest.Flags) -> Listing {
    let shared = SharedFilter(filter)
    let isDeleted = flags.contains(.deleted)
    let withAttributes = flags.contains(.attributes)
    return listing(includingDeleted: isDeleted) { item, output throws(VaultError) in
      guard item.isDeleted == isDeleted, shared.filter.accepts(item) else { return false }
      try write { () throws(ProtocolError) in
        try output.putEntry(item, withAttributes: withAttributes)
      }
      return true
    }
  }
}
