// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Lists the revisions of an item in order, some of them a slice.
final class RevisionList: Stream {
  private static let sliceCount = 32

  let session: Session
  let isUse = false
  private let name: SecretBytes
  private var last: UInt64 = 0

  init(_ name: consuming SecretBytes, of session: Session) {
    self.name = name
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let hasMore = try putSlice(of: name, &outbox.frames, &vault)
    if !hasMore { try write { () throws(ProtocolError) in try outbox.frames.putEnd() } }
    return hasMore
  }

  private func putSlice(
    of name: borrowing SecretBytes, _ output: inout SecretBuffer, _ vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let start = output.count
    let batch = try write { () throws(ProtocolError) in try output.openBatch() }
    var (count, newest) = (0, last)
    let hasMore = try vault.eachRevision(of: name.bytes, after: last, limit: Self.sliceCount) {
      item throws(VaultError) in
      try write { () throws(ProtocolError) in try output.putEntry(item, withAttributes: false) }
      newest = item.revision
      count += 1
    }
    last = newest
    guard count > 0 else {
      output.removeLast(output.count - start)
      return hasMore
    }
    try write { () throws(ProtocolError) in try output.closeBatch(batch, count: count) }
    return hasMore
  }
}
