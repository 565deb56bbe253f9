// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves `conflicts`: looks in some items a slice for what copies do not agree on.
final class ConflictList: Stream {
  /// In how many items a slice looks.
  private static let sliceItems = 512
  /// Bytes after which a frame ends, and a slice with it: a socket takes as much again before the client has read it.
  private static let sliceBytes = 24_000

  let session: Session
  let isUse = false
  /// Of which item; nil for all.
  private let name: SecretBytes?
  private var next: ItemTag?
  private var open: (batch: OpenBatch, start: Int, count: Int)?

  init(of name: consuming SecretBytes?, in session: Session) {
    self.name = name
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    switch name {
    case .some(let name):
      try vault.eachConflict(of: name.bytes) { conflict throws(VaultError) in
        try put(conflict, &outbox.frames)
      }
    case .none:
      let start = outbox.frames.count
      next = try vault.eachConflict(
        from: next, limit: Self.sliceItems,
        until: { outbox.frames.count - start > Self.sliceBytes }
      ) { conflict throws(VaultError) in try put(conflict, &outbox.frames) }
    }
    try close(&outbox.frames)
    guard next == nil else { return true }
    try write { () throws(ProtocolError) in try outbox.frames.putEnd() }
    return false
  }

  /// Writes one; an item alone may have more than a frame takes.
  private func put(
    _ conflict: borrowing ItemConflict, _ output: inout SecretBuffer
  ) throws(VaultError) {
    let start = open?.start ?? output.count
    let batch: OpenBatch
    if let open {
      batch = open.batch
    } else {
      batch = try write { () throws(ProtocolError) in try output.openBatch() }
    }
    try write { () throws(ProtocolError) in
      try output.putConflict(
        conflict.part, revision: conflict.revision, name: conflict.name.bytes,
        text: conflict.text.bytes)
    }
    open = (batch, start, (open?.count ?? 0) + 1)
    if output.count - start > Self.sliceBytes { try close(&output) }
  }

  private func close(_ output: inout SecretBuffer) throws(VaultError) {
    guard let (batch, _, count) = open else { return }
    open = nil
    try write { () throws(ProtocolError) in try output.closeBatch(batch, count: count) }
  }
}
