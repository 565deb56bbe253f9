// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Ends a purge: wipes the pieces of its large values, some of them a slice, then the WAL.
final class PurgeSweep: Stream {
  /// How often another writer is waited for, a slice each.
  private static let patience = 200

  let session: Session
  let isUse = false
  private var purge: Purge
  private var refusals = 0

  init(_ purge: Purge, of session: Session) {
    self.purge = purge
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      if !purge.isSwept {
        _ = try vault.advance(&purge)
        return true
      }
      try vault.finishPurge()
    } catch {
      guard error == .busy else { throw error }
      refusals += 1
      if refusals < Self.patience { return true }
      try write { () throws(ProtocolError) in try outbox.frames.putRefusal(.walKept, as: .end) }
      return false
    }
    let free = try vault.worthwhileSpace
    try write { () throws(ProtocolError) in
      if let free { try outbox.frames.putSpace(free) }
      if purge.damagedCount > 0 {
        try outbox.frames.putProgress(done: purge.damagedCount, total: purge.removedCount)
      }
      try outbox.frames.putEnd()
    }
    return false
  }
}

extension UnlockedVault {
  /// What the file could give back; nil where that is not worth a word: a MiB or less, or a tenth of the file.
  fileprivate var worthwhileSpace: SpaceReport? {
    mutating get throws(VaultError) {
      let (free, all) = try space()
      guard free > 1_048_576, free > all / 10 else { return nil }
      return SpaceReport(count: free, length: all)
    }
  }
}
