// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault

/// Has a vault go on with a store, and tells what came of it in the words of the protocol.
final class VaultMeeting: StoreDialog {
  private var run: SyncRun?
  private(set) var report = SyncReply()
  private(set) var entrance: JoinOffer?
  private(set) var unites = false

  init(_ vault: inout UnlockedVault, compacts: Bool) throws(VaultError) {
    run = try SyncRun(&vault, compacts: compacts)
  }

  func next(
    _ answer: SyncAnswer?, in vault: inout UnlockedVault
  ) throws(VaultError) -> SyncWish? {
    guard var run = run.take() else { throw .busy }
    let wish: SyncWish?
    do throws(VaultError) { wish = try run.next(answer, in: &vault) } catch {
      // It goes on with the same answer.
      if error == .busy { self.run = consume run }
      throw error
    }
    report = SyncReply(run.report, try vault.sharingState())
    if wish == nil { (entrance, unites) = (run.entrance, run.unites) }
    self.run = consume run
    return wish
  }
}

extension SyncReply {
  fileprivate init(_ report: SyncReport, _ state: SharingState?) {
    self.init()
    came.added = report.taken.added
    came.changed = report.taken.changed
    came.purged = report.taken.purged
    came.conflicting = report.taken.conflicting
    came.renamed = report.taken.renamed
    came.settings = report.taken.settings
    came.looserSettings = report.taken.looserSettings
    came.slots = report.taken.slots
    came.waitingSlots = report.taken.waitingSlots
    came.keptSlots = report.taken.keptSlots
    sent = report.sentCount
    objects = report.sentObjects
    bytes = report.sentBytes
    waiting = state?.waiting ?? 0
    news = report.findings.prefix(ProtocolLimit.news).map { finding in
      let device = state?.devices.first { $0.id == finding.device }
      return SyncNews(
        finding.kind, of: finding.device.bytes, label: device?.label ?? [],
        heard: device?.heardTime ?? 0)
    }
  }
}

extension SyncStatusReply {
  /// Who shares a vault, and who of them is awaited; nobody without a state.
  init(_ state: SharingState?, awaiting awaited: Set<DeviceID>) {
    self.init()
    guard let state else { return }
    (isShared, isSparing) = (true, state.isSparing)
    waiting = state.waiting
    epoch = state.epoch.bytes
    (heads, otherHeads) = (state.heads, state.otherHeads)
    devices = state.devices.prefix(ProtocolLimit.devices).map { known in
      var device = SyncDevice()
      (device.device, device.label, device.number) = (known.id.bytes, known.label, known.number)
      (device.heard, device.isThis) = (known.heardTime, known.isThis)
      (device.isRemoved, device.isBehind) = (known.isRemoved, known.isBehind)
      device.isAwaited = awaited.contains(known.id)
      return device
    }
  }
}
