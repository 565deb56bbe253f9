// SPDX-License-Identifier: MIT

public import KuraFormat

// Having nothing in the store but what stands in the vaults: all devices seal their own anew in the same round, and say when
// what they wrote before is gone.

extension SyncRun {
  /// The round that the next head is in: one that is begun by it, or the last of those devices of which all is here.
  func round(
    after told: HeadReport?, _ vault: inout UnlockedVault
  ) throws(VaultError) -> UInt64 {
    let own = told?.round ?? 0
    let last = reports.values.map(\.round).max() ?? 0
    if compacts { return max(own, last) + 1 }
    // While something of an epoch beside is left out not all is here.
    guard barred.isEmpty else { return own }
    guard last > own else { return own }
    // What who began it had seen purged has to be gone here, too, before anything is sealed anew.
    return try takenWhole(&vault).reduce(own) { max($0, $1.report.round) }
  }

  /// Whether all is gone that the last own head condemns, which others wait to hear.
  mutating func isCleaned(_ vault: inout UnlockedVault) throws(SyncStop) -> Bool {
    let told = try fromVault { () throws(VaultError) in try vault.toldReport(by: device)?.report }
    guard let condemned = told?.condemned, !condemned.isEmpty, !isHeldBack else { return false }
    let listed = try shelf.listedObjects(of: device)
    return !condemned.contains { listed.contains($0.hash) }
  }
}

extension UnlockedVault {
  /// Those who have to meet the store before nothing is left there that no vault has, by what their last heads say.
  public mutating func awaitedDevices() throws(VaultError) -> Set<DeviceID> {
    try reading { _ throws(VaultError) in }
    guard try isShared(), let own = trust.root.copy?.device,
      let told = try toldReport(by: own)?.report
    else { return [] }
    var (reports, awaited): ([DeviceID: HeadReport], Set<DeviceID>) = ([own: told], [])
    for note in try tableOfShared().notes where note.isReader(but: own) {
      let front = try keptFront(of: note.device)
      guard let front, try front.head.epoch == epoch(), let report = try report(in: front) else {
        awaited.insert(note.device)
        continue
      }
      reports[note.device] = report
    }
    let isAnyoneSilent = !awaited.isEmpty
    for (device, report) in reports {
      let last = report.condemned.map(\.number).max() ?? 0
      let needing = reports.filter { $0.key != device && !$0.value.acknowledges(device, last) }
      if report.round < told.round { awaited.insert(device) }
      guard last > 0 else { continue }
      awaited.formUnion(needing.keys)
      if needing.isEmpty, !isAnyoneSilent { awaited.insert(device) }
    }
    return awaited
  }
}
