// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs about the session and the agent.
extension Agent {
  func status(_ connection: Connection) throws(Refusal) {
    let now = configuration.clock()
    var report: StatusReport
    if let session = try unlockedInPlace(connection), let clocks = session.state.clocks(at: now) {
      report = unlockedReport(session, clocks)
    } else {
      report = try lockedReport(connection)
    }
    report.bootTime = now.boot
    if LockedMemory.status.unlockedByteCount > 0 { report.weaknesses.insert(.memoryNotLocked) }
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putStatusReply(report) }
  }

  func lock(_ request: LockRequest, _ connection: Connection) throws(Refusal) {
    let meant: [Session]
    switch request.scope {
    case .all: meant = sessions
    case .vault: meant = try session(of: connection).map { [$0] } ?? []
    }
    for session in meant { lock(session, request.reason, for: connection) }
    if request.scope == .all { giveUpWords() }
    if request.reason.holdsKeyFile { holdKeyFiles(request.scope, connection) }
    let left = try takeUpLeftWAL(of: connection)
    var closings = meant.compactMap(\.closing)
    if let left, !closings.contains(where: { $0 === left }) { closings.append(left) }
    let deadline = configuration.clock().monotonic + configuration.limits.closing
    awaitClosings(closings, for: connection, until: deadline)
  }

  /// Has key files wait, those of vaults that were not unlocked here, too. A vault that is just being closed is not
  /// opened: then all wait, which is stricter.
  private func holdKeyFiles(_ scope: LockRequest.Scope, _ connection: Connection) {
    guard LockedVault.looksForKeyFiles(options) else { return }
    guard scope == .vault, let vault = try? openLocked(connection) else {
      return LockedVault.holdAllKeyFiles(options)
    }
    vault.holdKeyFiles()
    vault.close()
  }

  func wait(_ milliseconds: UInt64, _ connection: Connection) throws(Refusal) {
    if try session(of: connection)?.isUnlocked == true {
      return try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
    }
    guard hasRoomToWait else { throw .tooBusy }
    let now = configuration.clock().monotonic
    let (deadline, overflow) = now.addingReportingOverflow(milliseconds)
    connection.phase = .awaitingUnlock(until: overflow ? .max : deadline)
  }

  /// Parks a client until the vault's lock refuses what it has under way, and tells it so: who shows a value has to
  /// know that somebody tells of the lock. It is no use of the vault.
  func awaitLock(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard hasRoomToWait else { throw .tooBusy }
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putProgress(done: 0, total: 0)
    }
    connection.phase = .awaitingLock(session)
  }

  func agentStatus(_ connection: Connection) throws(Refusal) {
    let memory = LockedMemory.status
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putAgentReply(
        processID: UInt32(getpid()), release: Release.version,
        sessionCount: sessions.count { $0.isUnlocked },
        lockedBytes: UInt64(memory.lockedByteCount),
        unlockedBytes: UInt64(memory.unlockedByteCount))
    }
  }

  /// Locks every vault, and ends; answered when every vault is one file, however long that takes.
  func stop(_ connection: Connection) throws(Refusal) {
    for session in sessions { lock(session, .asked, for: connection) }
    giveUpWords()
    ending = .asked
    awaitClosings(sessions.compactMap(\.closing), for: connection, until: .max)
  }

  /// Reads the settings of the vault, or changes one; new limits apply at once.
  func configure(
    _ request: ConfigRequest, _ connection: Connection, by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    let session = try unlocked(connection)
    if request.operation == .set { try set(request, session, by: owner) }
    let keys = try keys(of: request)
    let settings = try work(on: session) { vault throws(VaultError) in
      let policy = vault.policy
      return keys.map { SettingValue(key: $0.rawValue, value: policy[$0]) }
    }
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putConfigReply(settings) }
  }

  private func set(
    _ request: ConfigRequest, _ session: Session, by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    guard let key = try keys(of: request).first else { return }
    guard key.range.contains(request.value) else { throw .settingInvalid(key) }
    try work(on: session) { vault throws(VaultError) in
      try vault.setPolicy(key, to: request.value, by: owner)
      if key == .eraseLocalAfter { try vault.refreshEraseRules() }
    }
    if request.key == Setting.logEntries.rawValue { flushLog(of: session) }
    noteChange(of: session)
    session.adjust(at: configuration.clock())
  }

  private func keys(of request: ConfigRequest) throws(Refusal) -> [Setting] {
    if request.operation == .list { return Setting.allCases }
    guard let key = Setting(rawValue: request.key) else {
      throw .settingUnknown(request.key)
    }
    return [key]
  }
}

// MARK: - Reports

extension Agent {
  /// The session of an unlocked vault whose file is still the one at the path.
  private func unlockedInPlace(_ connection: Connection) throws(Refusal) -> Session? {
    guard let session = try unlockedSession(of: connection) else { return nil }
    do throws(Refusal) {
      try work(on: session) { vault throws(VaultError) in try vault.checkInPlace() }
    } catch  where !session.isUnlocked { return nil }
    return session
  }

  private func unlockedReport(_ session: Session, _ clocks: SessionClocks) -> StatusReport {
    var report = StatusReport(state: .unlocked)
    report.since = clocks.since
    report.idleLeft = clocks.idleLeft
    report.sessionLeft = clocks.sessionLeft
    report.idleTimeout = clocks.limits.idleTimeout
    report.maxSession = clocks.limits.maxSession
    if let summary = session.summary {
      report.epoch = summary.epoch
      report.fingerprint = summary.fingerprint
      report.itemCount = summary.itemCount
      report.format = summary.format.rawValue
      report.rotation = session.rotationProgress.map(\.parts)
      report.weaknesses = summary.weaknesses
    }
    if let (vault, slots) = session.front {
      addTries(vault, slots, to: &report)
      addBackup(of: vault, to: &report)
    }
    if !clocks.limits.locksOnSleep { report.weaknesses.insert(.staysOpenInSleep) }
    if let policy = session.policy { report.weaknesses.formUnion(.looser(policy, clocks.limits)) }
    if session.notices.contains(.seenNotKept) { report.weaknesses.insert(.seenNotKept) }
    return report
  }

  /// What can be told without a key; the file is looked at, so that damage shows.
  private func lockedReport(_ connection: Connection) throws(Refusal) -> StatusReport {
    let session = try session(of: connection)
    let id: VaultID
    let slots: [SlotSummary]
    if let session, let closing = session.closing {
      // Another connection would keep the WAL from going, and wait for a disk that hangs.
      (id, slots) = (session.vaultID, closing.slots)
    } else {
      let vault = try openLocked(connection)
      (id, slots) = (vault.id, vault.slots)
      vault.close()
    }
    let note = try lockNote(of: connection)
    var report = StatusReport(
      state: session?.state.isUnlocking == true ? .unlocking : .locked, lockReason: note.reason)
    report.since = note.since
    report.idleTimeout = note.idleTimeout
    report.weaknesses = weaknesses(slots)
    addTries(id, slots, to: &report)
    addBackup(of: id, to: &report)
    return report
  }

  private func addTries(_ vault: VaultID, _ slots: [SlotSummary], to report: inout StatusReport) {
    report.tries = tryReports(of: vault, slots)
    if !tallies.isKept(vault) { report.weaknesses.insert(.triesNotKept) }
  }

  private func addBackup(of vault: VaultID, to report: inout StatusReport) {
    report.vault = vault.bytes
    guard let note = BackupNote.read(of: vault, in: configuration.stateDirectory) else { return }
    (report.backupTime, report.backupPath) = (note.time, note.path)
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
