// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves `verify`: checks some of the vault a slice, and tells findings as they are made.
final class VaultCheck: Stream {
  /// Parts of the whole after which progress is told.
  private static let steps: UInt64 = 200

  let session: Session
  let isUse = false
  private var verification: Verification
  private var told: UInt64?

  init(_ verification: consuming Verification, of session: Session) {
    self.verification = verification
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let progress = try verification.step(in: vault)
    try tellFindings(&outbox.frames)
    let part = progress.total == 0 ? 0 : progress.done / max(1, progress.total / Self.steps)
    if part != told || progress.isFinished {
      told = part
      try write { () throws(ProtocolError) in
        try outbox.frames.putProgress(done: progress.done, total: progress.total)
      }
    }
    guard progress.isFinished else { return true }
    try write { () throws(ProtocolError) in try outbox.frames.putEnd() }
    return false
  }

  private func tellFindings(_ output: inout SecretBuffer) throws(VaultError) {
    while let finding = try verification.takeFinding() {
      let batch = try write { () throws(ProtocolError) in try output.openBatch() }
      try write { () throws(ProtocolError) in
        try output.putFinding(finding.kind, at: finding.place)
        try output.closeBatch(batch, count: 1)
      }
    }
  }
}
