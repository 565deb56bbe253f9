// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs about the ways to open a vault.
extension Agent {
  func slots(_ connection: Connection) throws(Denial) {
    let session = try session(of: connection)
    if let session, session.isUnlocked {
      let id = try work(on: session) { vault throws(VaultError) in vault.id }
      let reports = try work(on: session) { vault throws(VaultError) in try vault.slotReports() }
      return try answer(reports, of: id, opened: session.unlockSlot, isAuthentic: true, connection)
    }
    let vault = try openLocked(connection)
    let (id, reports) = (vault.id, vault.slotReports)
    vault.close()
    try answer(reports, of: id, opened: nil, isAuthentic: false, connection)
  }

  private func answer(
    _ reports: [SlotReport], of vault: VaultID, opened: UInt8?, isAuthentic: Bool,
    _ connection: Connection
  ) throws(Denial) {
    let suspended = suspendedKinds(of: vault)
    try wire { () throws(ProtocolError) in
      let list = try connection.outbox.frames.openSlotList(isAuthentic: isAuthentic)
      for report in reports {
        var facts = SlotFacts(report)
        if !suspended.contains(report.kind) { facts.flags.insert(.enabled) }
        if report.number == opened { facts.flags.insert(.opened) }
        let (label, place) = (report.note?.label ?? [], report.note?.place ?? [])
        try connection.outbox.frames.putSlot(facts, label: label.span, place: place.span)
      }
      try connection.outbox.frames.closeSlotList(list, count: reports.count)
    }
  }

  /// Kinds that no waiting opens: only once the passcode has worked are they taken again.
  private func suspendedKinds(of vault: VaultID) -> [SlotKind] {
    let record = tries.look(at: vault)
    return TryKind.allCases.compactMap { kind in
      let standing = tries.standing(kind, record)
      guard !standing.isAllowed, standing.wait == TryReport.untilPasscode else { return nil }
      return kind.slotKind
    }
  }
}

// MARK: - Changes

extension Agent {
  func addSlot(
    _ request: SlotAddRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    let naming: SlotNaming
    do throws(VaultError) {
      naming = try SlotNaming(
        label: payload.extracting(request.label), place: payload.extracting(request.place))
    } catch { throw Denial(error, at: connection.vaultPath) }
    let new = try secret(payload.extracting(request.secret))
    try start(.add(request), request.authority, payload, connection, new, naming)
  }

  func removeSlot(
    _ request: SlotRemoveRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try start(.remove(request.number), request.authority, payload, connection, nil, .none)
  }

  func testSlot(
    _ request: SlotTestRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    let number = request.number == SlotTestRequest.anySlot ? nil : request.number
    try start(.test(only: number), request.authority, payload, connection, nil, .none)
  }

  private func start(
    _ task: SlotTask, _ authority: SlotAuthority, _ payload: Span<UInt8>,
    _ connection: Connection, _ new: consuming SecretBytes?, _ naming: SlotNaming
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    try check(authority, for: task)
    var vault = try openLocked(connection)
    if case .add(let request) = task { try checkRoom(for: request, in: vault) }
    let session = session(of: vault, at: connection.vaultPath)
    let current = try secret(payload.extracting(authority.secret))
    let guess = try guess(at: &vault, of: connection)
    if case .test = task {
      try checkTries(authority.credential, typed: current, guess, at: vault, session)
    } else {
      try checkTries(authority.credential, at: vault, session)
    }
    let job = SlotJob(
      guess, task, authority.credential, current: current,
      new: new, naming: naming, unlocks: !session.isUnlocked)
    start(SlotWork(job, vault, session), for: connection)
  }

  /// Refuses at once what could not be added: a recovery key must not be shown, or written to a file, and
  /// then never come into force.
  private func checkRoom(
    for request: SlotAddRequest, in vault: borrowing LockedVault
  ) throws(Denial) {
    let slots = vault.slots
    if request.kind == .recoveryKey, slots.contains(where: { $0.kind == .recoveryKey }) {
      guard request.flags.contains(.replace) else {
        throw Denial(.exists, text: .words("recovery key"))
      }
      return
    }
    guard slots.count < KDFLimits.mostSlots else {
      throw Denial(.slotsFull, UInt64(KDFLimits.mostSlots))
    }
  }

  /// A way in that nobody has to know or to read off paper does not make or end another.
  private func check(_ authority: SlotAuthority, for task: SlotTask) throws(Denial) {
    if case .test = task { return }
    switch authority.credential {
    case .passcode, .recoveryKey: return
    case .keyFile, .local:
      throw Denial(.denied, text: .words("a change of slots takes a passcode or recovery key"))
    }
  }
}

extension SlotFacts {
  fileprivate init(_ report: SlotReport) {
    var flags: Flags = []
    if report.holdsProtectedHalf { flags.insert(.withProtected) }
    if report.kdf.map(KDFLimits.isWeak) == true { flags.insert(.weak) }
    if report.note?.isWeakCostMeant == true { flags.insert(.weakMeant) }
    self.init(
      number: report.number, kind: report.kind,
      flags: flags,
      availability: report.availability,
      cost: report.kdf ?? .calibrated,
      created: report.note?.created ?? 0)
  }
}
