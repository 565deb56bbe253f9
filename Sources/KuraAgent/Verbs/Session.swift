// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraFormat
internal import KuraProtocol
internal import KuraSession
internal import KuraVault
internal import SecureMemory

/// Verbs about the session and the agent.
extension Agent {
  func status(_ connection: Connection) throws(Denial) {
    let now = configuration.clock()
    var report: StatusReport
    if let keeper = try unlockedInPlace(connection), let clocks = keeper.session.clocks(at: now) {
      report = unlockedReport(keeper, clocks)
    } else {
      report = try lockedReport(connection)
    }
    report.bootTime = now.boot
    if LockedMemory.status.unlockedByteCount > 0 { report.weaknesses.insert(.memoryNotLocked) }
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putStatusReply(report) }
  }

  func lock(_ request: LockRequest, _ connection: Connection) throws(Denial) {
    let meant: [Keeper]
    switch request.scope {
    case .all: meant = keepers
    case .vault: meant = try keeper(of: connection).map { [$0] } ?? []
    }
    for keeper in meant { lock(keeper, request.reason, for: connection) }
    if request.scope == .all { giveUpWords() }
    let left = try takeUpLeftWAL(of: connection)
    var closings = meant.compactMap(\.closing)
    if let left, !closings.contains(where: { $0 === left }) { closings.append(left) }
    let deadline = configuration.clock().monotonic + configuration.limits.closing
    awaitClosings(closings, for: connection, until: deadline)
  }

  func wait(_ milliseconds: UInt64, _ connection: Connection) throws(Denial) {
    if try keeper(of: connection)?.isUnlocked == true {
      return try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
    }
    guard hasRoomToWait else { throw Denial(.busy).final(when: true) }
    let now = configuration.clock().monotonic
    let (deadline, overflow) = now.addingReportingOverflow(milliseconds)
    connection.errand = Wait(deadline: overflow ? .max : deadline)
    connection.phase = .parked
  }

  /// Parks a client until the vault's lock refuses what it has under way. It is no use of the vault.
  func awaitLock(_ connection: Connection) throws(Denial) {
    let keeper = try unlocked(connection)
    guard hasRoomToWait else { throw Denial(.busy).final(when: true) }
    connection.errand = Watch(keeper)
    connection.phase = .parked
  }

  func agentStatus(_ connection: Connection) throws(Denial) {
    let memory = LockedMemory.status
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putAgentReply(
        processID: UInt32(getpid()), release: Release.version,
        sessionCount: keepers.count { $0.isUnlocked },
        lockedBytes: UInt64(memory.lockedByteCount),
        unlockedBytes: UInt64(memory.unlockedByteCount))
    }
  }

  /// Locks every vault, and ends; answered when every vault is one file, however long that takes.
  func stop(_ connection: Connection) throws(Denial) {
    for keeper in keepers { lock(keeper, .asked, for: connection) }
    giveUpWords()
    ending = .asked
    awaitClosings(keepers.compactMap(\.closing), for: connection, until: .max)
  }

  /// Reads the settings of the vault, or changes one; new limits apply at once.
  func configure(
    _ request: ConfigRequest, _ connection: Connection, by owner: borrowing OwnerProof?
  ) throws(Denial) {
    let keeper = try unlocked(connection)
    if request.operation == .set { try set(request, keeper, by: owner) }
    let keys = try keys(of: request)
    let settings = try work(on: keeper) { vault throws(VaultError) in
      let policy = vault.policy
      return keys.map { SettingValue(key: $0.rawValue, value: policy[$0]) }
    }
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putConfigReply(settings) }
  }

  private func set(
    _ request: ConfigRequest, _ keeper: Keeper, by owner: borrowing OwnerProof?
  ) throws(Denial) {
    guard let key = try keys(of: request).first else { return }
    let range = key.range
    guard range.contains(request.value) else {
      throw Denial(.configInvalid, UInt64(request.key), range.lowerBound, range.upperBound)
    }
    try work(on: keeper) { vault throws(VaultError) in
      try vault.setPolicy(key, to: request.value, by: owner)
      if key == .eraseLocalAfter { try vault.refreshEraseRules() }
    }
    if request.key == Setting.logEntries.rawValue { flushLog(of: keeper) }
    noteChange(of: keeper)
    keeper.adjust(at: configuration.clock())
  }

  private func keys(of request: ConfigRequest) throws(Denial) -> [Setting] {
    if request.operation == .list { return Setting.allCases }
    guard let key = Setting(rawValue: request.key) else {
      throw Denial(.configInvalid, UInt64(request.key))
    }
    return [key]
  }
}

// MARK: - Reports

extension Agent {
  /// The session of an unlocked vault whose file is still the one at the path.
  private func unlockedInPlace(_ connection: Connection) throws(Denial) -> Keeper? {
    guard let keeper = try unlockedKeeper(of: connection) else { return nil }
    do throws(Denial) {
      try work(on: keeper) { vault throws(VaultError) in try vault.checkInPlace() }
    } catch  where !keeper.isUnlocked { return nil }
    return keeper
  }

  private func unlockedReport(_ keeper: Keeper, _ clocks: SessionClocks) -> StatusReport {
    var report = StatusReport(state: .unlocked)
    report.since = clocks.since
    report.idleLeft = clocks.idleLeft
    report.sessionLeft = clocks.sessionLeft
    report.idleTimeout = clocks.limits.idleTimeout
    report.maxSession = clocks.limits.maxSession
    if let summary = keeper.summary {
      report.epoch = summary.epoch
      report.fingerprint = summary.fingerprint
      report.itemCount = summary.itemCount
      report.rotation = keeper.rotationProgress.map(\.parts)
      report.weaknesses = summary.weaknesses
    }
    if let (vault, slots) = keeper.front { addTries(vault, slots, to: &report) }
    if !clocks.limits.locksOnSleep { report.weaknesses.insert(.staysOpenInSleep) }
    if let policy = keeper.policy { report.weaknesses.formUnion(.looser(policy, clocks.limits)) }
    if keeper.notices.contains(.seenNotKept) { report.weaknesses.insert(.seenNotKept) }
    return report
  }

  /// What can be told without a key; the file is looked at, so that damage shows.
  private func lockedReport(_ connection: Connection) throws(Denial) -> StatusReport {
    let keeper = try keeper(of: connection)
    let id: VaultID
    let slots: [SlotSummary]
    if let keeper, let closing = keeper.closing {
      // Another connection would keep the WAL from going, and wait for a disk that hangs.
      (id, slots) = (keeper.vaultID, closing.slots)
    } else {
      let vault = try openLocked(connection)
      (id, slots) = (vault.id, vault.slots)
      vault.close()
    }
    let note = try lockNote(of: connection)
    var report = StatusReport(
      state: keeper?.session.isUnlocking == true ? .unlocking : .locked, lockReason: note.reason)
    report.since = note.since
    report.idleTimeout = note.idleTimeout
    report.weaknesses = weaknesses(slots)
    addTries(id, slots, to: &report)
    return report
  }

  private func addTries(_ vault: VaultID, _ slots: [SlotSummary], to report: inout StatusReport) {
    report.tries = tryReports(of: vault, slots)
    if !tries.isKept(vault) { report.weaknesses.insert(.triesNotKept) }
  }

  private func weaknesses(_ slots: [SlotSummary]) -> Weaknesses {
    var weaknesses: Weaknesses = []
    if slots.contains(where: { $0.kdf.map(KDFLimits.isWeak) == true }) {
      weaknesses.insert(.weakKDF)
    }
    if !slots.contains(where: { $0.kind == .recoveryKey }) { weaknesses.insert(.noRecoveryKey) }
    return weaknesses
  }
}

extension Weaknesses {
  /// What is looser than in a new vault, by the settings or in this session.
  fileprivate static func looser(_ policy: Policy, _ limits: SessionLimits) -> Weaknesses {
    let all: [(Weaknesses, Bool)] = [
      (.reuseWindow, policy[.reuseWindow] > Setting.reuseWindow.standard),
      (
        .longIdleTimeout,
        max(policy[.idleTimeout], limits.idleTimeout) > Setting.idleTimeout.standard
      ),
      (
        .longMaxSession,
        max(policy[.maxSession], limits.maxSession) > Setting.maxSession.standard
      ),
      (.shortHistory, policy[.historyDepth] < Setting.historyDepth.standard),
      (.shortLog, policy[.logEntries] < Setting.logEntries.standard),
    ]
    return Weaknesses(all.filter { $0.1 }.map { $0.0 })
  }
}

extension RotationProgress {
  /// In parts of a thousand.
  fileprivate var parts: UInt16 { UInt16(done * 1_000 / Self.total) }
}
