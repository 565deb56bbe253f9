// SPDX-License-Identifier: MIT

public import KuraFormat

// Having nothing in the store but what stands in the vaults. Who wants that begins a round; each device seals its own anew
// once all is here that that one had then, and says when what it wrote before is gone.

/// Names rounds by the numbers of the heads that they were begun with.
struct SyncRounds {
  /// The own one; 0 before the first.
  var own: UInt64 = 0
  /// Of other devices the last ones since which all of one's own was sealed anew.
  var others = RevisionVector()

  /// - Parameter told: The last own head of this epoch: in another one nothing counts that was begun before.
  init(after told: HeadReport?, _ memory: RemoteMemory) {
    guard let told else { return }
    own = told.round
    for round in told.rounds.entries {
      // What another machine began under that id says nothing of whose it is now.
      let turns = memory.was.filter { $0.former == round.device && !told.was.contains($0) }
      let counter = turns.reduce(round.counter) { min($0, $1.common.number) }
      if counter > 0 { others.include(RevisionEntry(device: round.device, counter: counter)) }
    }
  }
}

extension SyncRun {
  /// The last rounds of those devices of which all is here.
  func roundsAtHand(_ vault: inout UnlockedVault) throws(VaultError) -> RevisionVector {
    // While something of an epoch beside is left out not all is here.
    guard barred.isEmpty, reports.values.contains(where: { $0.round > 0 }) else {
      return RevisionVector()
    }
    // What who began it had seen purged has to be gone here, too, before anything is sealed anew.
    return RevisionVector(
      try takenWhole(&vault).filter { $0.report.round > 0 }.map {
        RevisionEntry(device: $0.device, counter: $0.report.round)
      })
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
  /// Notes that the next head is to begin a round.
  mutating func wishForRound() throws(VaultError) {
    guard try !memoryOfShared().mustBeginRound else { return }
    try remember { memory, _ in
      memory.mustBeginRound = true
      return []
    }
  }

  /// Those who have to meet the store before nothing is left there that no vault has, by what their last heads say.
  public mutating func awaitedDevices() throws(VaultError) -> Set<DeviceID> {
    try reading { _ throws(VaultError) in }
    guard try isShared(), let own = trust.root.copy?.device else { return [] }
    let (others, silent) = try lastReports(but: own)
    // One that is not begun yet has been followed by nobody.
    if try memoryOfShared().mustBeginRound { return silent.union(others.keys).union([own]) }
    guard let told = try toldReport(by: own)?.report else { return [] }
    var (reports, awaited) = (others, silent)
    reports[own] = told
    for (device, report) in reports {
      let others = reports.filter { $0.key != device }
      awaited.formUnion(others.filter { !$0.value.follows(report, of: device) }.keys)
      let last = report.condemned.map(\.number).max() ?? 0
      let needing = others.filter { !$0.value.acknowledges(device, last) }
      guard last > 0 else { continue }
      awaited.formUnion(needing.keys)
      if needing.isEmpty, silent.isEmpty { awaited.insert(device) }
    }
    return awaited
  }

  /// Whether somebody has not sealed all anew since a round that this copy began, by the id that it had: in another epoch,
  /// or under another id, it has to begin it once more.
  ///
  /// - Parameters:
  ///   - removed: Who is waited for no more.
  ///   - taken: The last own head that the maker of another epoch had taken: of others in it nothing may be known.
  mutating func awaitsRound(
    of device: DeviceID, but removed: some Collection<DeviceID> = [], taken: UInt64 = .max
  ) throws(VaultError) -> Bool {
    guard let told = try toldReport(by: device)?.report, told.round > 0 else { return false }
    let (others, silent) = try lastReports(but: device)
    return taken < told.round || !silent.subtracting(removed).isEmpty
      || others.contains { !removed.contains($0.key) && !$0.value.follows(told, of: device) }
  }

  /// What all others said last, as far as it is of this epoch, and who has said nothing in it.
  private mutating func lastReports(
    but own: DeviceID
  ) throws(VaultError) -> (reports: [DeviceID: HeadReport], silent: Set<DeviceID>) {
    var (reports, silent): ([DeviceID: HeadReport], Set<DeviceID>) = ([:], [])
    for note in try tableOfShared().notes where note.isReader(but: own) {
      if let front = try keptFront(of: note.device), try front.head.epoch == epoch(),
        let report = try report(in: front)
      {
        reports[note.device] = report
      } else {
        silent.insert(note.device)
      }
    }
    return (reports, silent)
  }
}

extension HeadReport {
  /// Whether all was sealed anew since the last round of a device.
  fileprivate func follows(_ other: HeadReport, of device: DeviceID) -> Bool {
    rounds.counter(of: device) >= other.round
  }
}
