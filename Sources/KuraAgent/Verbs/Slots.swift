// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs about the ways to open a vault.
extension Agent {
  func slots(_ connection: Connection) throws(Refusal) {
    let session = try session(of: connection)
    if let session, session.isUnlocked {
      let id = try work(on: session) { vault throws(VaultError) in vault.id }
      let reports = try work(on: session) { vault throws(VaultError) in try vault.slotReports() }
      return try answer(
        reports, of: id, opened: session.unlockSlot, isAuthentic: true, connection)
    }
    let vault = try openLocked(connection)
    let (id, reports) = (vault.id, vault.slotReports)
    vault.noteAway(reports)
    vault.close()
    try answer(reports, of: id, opened: nil, isAuthentic: false, connection)
  }

  private func answer(
    _ reports: [SlotReport], of vault: VaultID, opened: UInt8?, isAuthentic: Bool,
    _ connection: Connection
  ) throws(Refusal) {
    let suspended = suspendedKinds(of: vault)
    try wire { () throws(ProtocolError) in
      let list = try connection.outbox.frames.openSlotList(isAuthentic: isAuthentic)
      for report in reports {
        var facts = SlotFacts(report)
        if !suspended.contains(report.kind), !report.isDisabled { facts.flags.insert(.enabled) }
        if report.number == opened { facts.flags.insert(.opened) }
        let label = report.note?.label ?? []
        let place = report.looked?.path ?? report.note?.place ?? []
        try connection.outbox.frames.putSlot(facts, label: label.span, place: place.span)
      }
      try connection.outbox.frames.closeSlotList(list, count: reports.count)
    }
  }

  /// Kinds that no waiting opens: only once the passcode has worked are they taken again.
  private func suspendedKinds(of vault: VaultID) -> [SlotKind] {
    let record = tallies.look(at: vault)
    return TryKind.allCases.compactMap { kind in
      let standing = tallies.standing(kind, record)
      guard !standing.isAllowed, standing.wait == TryReport.untilPasscode else { return nil }
      return kind.slotKind
    }
  }
}

// MARK: - Changes

extension Agent {
  func addSlot(
    _ request: SlotAddRequest, _ connection: Connection
  ) throws(Refusal) {
    let naming: SlotNaming
    do throws(VaultError) {
      naming = try SlotNaming(
        label: request.label.bytes, place: request.place.bytes)
    } catch { throw Refusal(error, at: connection.vaultPath) }
    try request.authority.credential.checkMayChangeSlots()
    let vault = try openForAttempt(connection)
    try request.checkRoom(in: vault)
    let new = try secret(request.secret.bytes)
    try begin(
      .add(request.order, naming), by: request.authority.credential,
      request.authority.secret.bytes, new, at: vault, connection)
  }

  /// Removes, disables or enables a slot that is there.
  func changeSlot(
    _ task: SlotChange.Task, _ request: SlotRequest, _ connection: Connection
  ) throws(Refusal) {
    try request.authority.credential.checkMayChangeSlots()
    try begin(
      task, by: request.authority.credential, request.authority.secret.bytes, nil,
      at: try openForAttempt(connection), connection)
  }

  func changePasscode(
    _ request: PasscodeRequest, _ connection: Connection
  ) throws(Refusal) {
    let vault = try openForAttempt(connection)
    let new = try secret(request.new.bytes)
    try begin(
      .passcode(request.cost, request.flags), by: request.authority.credential,
      request.authority.secret.bytes, new,
      at: vault, connection)
  }

  private func begin(
    _ task: SlotChange.Task, by credential: Credential, _ shown: Span<UInt8>,
    _ new: consuming SecretBytes?, at vault: consuming LockedVault, _ connection: Connection
  ) throws(Refusal) {
    let session = session(of: vault, at: connection.vaultPath)
    try begin(
      SlotChange(task, by: credential, new, of: session), by: credential, shown, codes: .refused,
      at: vault, of: session, for: connection)
  }

  func testSlot(
    _ request: SlotRequest, _ connection: Connection
  ) throws(Refusal) {
    let number = request.number == SlotRequest.anySlot ? nil : request.number
    let vault = try openForAttempt(connection)
    let session = session(of: vault, at: connection.vaultPath)
    try begin(
      SlotTest(only: number), by: request.authority.credential,
      request.authority.secret.bytes, codes: .taken, at: vault, of: session,
      for: connection)
  }
}

extension SlotAddRequest {
  /// Refuses at once what could not be added: a recovery key must not be shown, or written to a file, and
  /// then never come into force.
  fileprivate func checkRoom(in vault: borrowing LockedVault) throws(Refusal) {
    let slots = vault.slots
    if kind == .recoveryKey, slots.contains(where: { $0.kind == .recoveryKey }) {
      guard flags.contains(.replace) else { throw .recoveryKeyExists }
      return
    }
    guard slots.count < KDFLimits.mostSlots else {
      throw .slotsFull(limit: KDFLimits.mostSlots)
    }
  }
}

extension Credential {
  /// A way in that nobody has to know or to read off paper does not make or end another.
  fileprivate func checkMayChangeSlots() throws(Refusal) {
    switch self {
    case .passcode, .recoveryKey: return
    case .keyFile, .local, .tpm, .fido2:
      throw .slotsTakeOwner
    }
  }
}

extension SlotFacts {
  fileprivate init(_ report: SlotReport) {
    var flags: Flags = []
    if report.isDisabled { flags.insert(.disabled) }
    if report.holdsProtectedHalf { flags.insert(.withProtected) }
    if report.kdf.map(KDFLimits.isWeak) == true { flags.insert(.weak) }
    if report.note?.isWeakCostMeant == true { flags.insert(.weakMeant) }
    if report.looked != nil { flags.insert(.tried) }
    if report.isHeld { flags.insert(.held) }
    self.init(
      number: report.number, kind: report.kind,
      flags: flags,
      availability: report.availability,
      cost: report.kdf ?? .calibrated,
      created: report.note?.created ?? 0,
      size: report.looked?.size ?? (report.isVerified ? 1 : UInt64(report.submitLength)))
  }
}
