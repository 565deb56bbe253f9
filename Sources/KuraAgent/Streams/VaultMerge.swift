// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves `merge`: brings some of another copy and the vault together a slice, and at the end all of it at once. Until
/// then the vault is as it was; it ends with its client, and with a lock.
final class VaultMerge: Stream {
  /// Parts of the whole after which progress is told.
  private static let steps: UInt64 = 200

  let session: Session
  let isUse = true
  let isChange = true
  private let path: String
  /// Where the vault was put aside as it was, before it was taken over for this; nil where it had the format.
  private let copy: String?
  private var work: MergeWork?
  private var told: UInt64?

  init(_ work: consuming MergeWork, with path: String, copy: String?, of session: Session) {
    self.work = consume work
    self.path = path
    self.copy = copy
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    do throws(VaultError) { return try goOn(&outbox, in: &vault) } catch {
      // What is wrong with the copy is said of the copy.
      guard error.isOfCopy else { throw error }
      let refusal = Refusal(error, at: path)
      try write { () throws(ProtocolError) in try outbox.frames.putRefusal(refusal, as: .end) }
      return false
    }
  }

  private func goOn(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    guard var work = work.take() else { throw .busy }
    guard try !work.step() else {
      let (done, total) = work.progress
      self.work = consume work
      let part = done * Self.steps / total
      guard part != told else { return true }
      told = part
      try write { () throws(ProtocolError) in
        try outbox.frames.putProgress(done: done, total: total)
      }
      return true
    }
    let report = try vault.finish(work)
    try write { () throws(ProtocolError) in
      let place = Array((copy ?? "").utf8)
      try outbox.frames.putMerge(MergeReply(report, copy: place.span))
      try outbox.frames.putEnd()
    }
    return false
  }
}

extension MergeReply {
  @_lifetime(copy copy)
  fileprivate init(_ report: MergeReport, copy: Span<UInt8>) {
    self.init(copy: copy)
    added = report.added
    changed = report.changed
    purged = report.purged
    conflicting = report.conflicting
    renamed = report.renamed
    settings = report.settings
    looserSettings = report.looserSettings
    slots = report.slots
    waitingSlots = report.waitingSlots
    keptSlots = report.keptSlots
  }
}

extension VaultError {
  /// Whether it is about another copy of the vault.
  fileprivate var isOfCopy: Bool {
    if case .copyRefused = self { return true }
    return self == .copyDamaged
  }
}
