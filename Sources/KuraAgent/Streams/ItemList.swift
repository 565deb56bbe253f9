// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// The items that a filter lets through, some of them a slice.
final class ItemList: Stream {
  /// How often one slice looks for more items, some 64 at a time: a few milliseconds.
  private static let sliceLooks = 4
  /// Bytes after which a batch is sent.
  private static let sliceBytes = 60_000

  let keeper: Keeper
  let isUse = false
  private var listing: Listing
  private let filter: ItemFilter
  private let flags: ListRequest.Flags

  init(
    _ listing: consuming Listing, _ filter: consuming ItemFilter, _ flags: ListRequest.Flags,
    of keeper: Keeper
  ) {
    self.listing = listing
    self.filter = filter
    self.flags = flags
    self.keeper = keeper
  }

  func advance(
    _ output: inout SecretBuffer, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let start = output.count
    let batch = try write { () throws(ProtocolError) in try output.openBatch() }
    var count = 0
    var looks = 0
    while looks < Self.sliceLooks, output.count - start < Self.sliceBytes {
      guard let item = listing.takeItem() else {
        looks += 1
        if try listing.advance(in: &vault) { continue }
        try close(batch, count, from: start, &output)
        try write { () throws(ProtocolError) in try output.putEnd() }
        return false
      }
      guard accepts(item) else { continue }
      try write { () throws(ProtocolError) in
        try output.putEntry(item, withAttributes: flags.contains(.attributes))
      }
      count += 1
    }
    try close(batch, count, from: start, &output)
    return true
  }

  private func accepts(_ item: borrowing Item) -> Bool {
    item.isDeleted == flags.contains(.deleted) && filter.accepts(item)
  }

  private func close(
    _ batch: OpenBatch, _ count: Int, from start: Int, _ output: inout SecretBuffer
  ) throws(VaultError) {
    guard count > 0 else { return output.removeLast(output.count - start) }
    try write { () throws(ProtocolError) in try output.closeBatch(batch, count: count) }
  }
}
