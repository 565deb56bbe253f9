// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Begins to give a vault a new key, or to make another vault of what it has, once its client has the recovery key that
/// goes with that.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Rekeying: Act, @unchecked Sendable {
  private let session: Session
  /// The slots as they were when it was asked for.
  private let known: [SlotReport]
  private var keyFile: SecretBytes?
  /// A code for this machine's TPM, without bytes for a slot that takes none; nil where no slot of it goes over.
  private var code: SecretBytes?
  /// The PIN of a security key, without bytes for one that takes none; nil where no slot of one goes over.
  private var pin: SecretBytes?
  /// The slot of that.
  private let keySlot: UInt8
  private let wantsRecoveryKey: Bool
  /// Where another vault is to stand; nil where this one gets the key.
  private let clonePath: String?
  /// Who shares the vault no longer.
  private let removed: Set<DeviceID>
  /// Whether it brings together what several machines gave it, by what is shown alone.
  private let isUniting: Bool
  /// What is shown: a passcode, or to unite a recovery key.
  private let credential: Credential
  private var key: VaultKey?
  private var slots: RekeySlots?

  init(
    _ session: Session, _ known: [SlotReport], keyFile: consuming SecretBytes?,
    code: consuming SecretBytes? = nil, keySlot: UInt8 = 0, pin: consuming SecretBytes? = nil,
    wantsRecoveryKey: Bool, clonePath: String? = nil, removing removed: Set<DeviceID> = [],
    isUniting: Bool = false, by credential: Credential = .passcode
  ) {
    (self.clonePath, self.removed, self.isUniting) = (clonePath, removed, isUniting)
    self.credential = credential
    self.session = session
    self.known = known
    self.keyFile = consume keyFile
    asksChip = code != nil || pin != nil
    self.code = consume code
    self.pin = consume pin
    self.keySlot = keySlot
    self.wantsRecoveryKey = wantsRecoveryKey
  }

  func prepare(_ shown: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    let key = try job.prove(shown)
    var number: UInt8 = 0
    var file: PreparedSlot?
    if let keyFile = keyFile.take() {
      number = try job.prove(.keyFile, keyFile).slot
      let report = known.first { $0.number == number }
      file = try PreparedSlot.keyFile(
        keyFile, withProtected: report?.holdsProtectedHalf ?? false,
        naming: try naming(of: report))
    }
    var slots = RekeySlots(
      passcode: try slot(for: shown, like: key.slot), keyFile: file, keyFileNumber: number,
      recovery: wantsRecoveryKey ? try PreparedSlot.recoveryKey() : nil)
    if let code = code.take() { try keepChips(code, in: &slots, job) }
    // Last, so that nobody touches it only to hear that something else was wrong.
    if let pin = pin.take() { try keepKey(pin, in: &slots, job) }
    self.slots = consume slots
    self.key = consume key
  }

  /// A slot that what was shown opens. It costs what it did: who chose that chose it for this passcode.
  private func slot(
    for shown: borrowing SecretBytes, like number: UInt8
  ) throws(VaultError) -> PreparedSlot {
    guard credential == .passcode else { return try PreparedSlot.recoveryKey(typed: shown) }
    let cost = known.first { $0.number == number }?.kdf ?? KDFLimits.standard
    return try PreparedSlot.passcode(shown, kdf: cost, allowsWeak: true)
  }

  /// Has the slots of this machine's TPM go over that open now.
  private func keepChips(
    _ code: borrowing SecretBytes, in slots: inout RekeySlots, _ job: AttemptJob
  ) throws(VaultError) {
    try keepChip(code, in: &slots, job)
    guard code.count > 0 else { return }
    let nothing: SecretBytes
    do throws(SecureMemoryError) { nothing = try SecretBytes(count: 0) } catch {
      throw .outOfMemory
    }
    do throws(VaultError) { try keepChip(nothing, in: &slots, job) } catch {
      // There need be none, and another machine's stays behind.
      guard error == .noSuchSlot(.tpm) || error == .chip(ChipFault(.other)) else { throw error }
    }
  }

  private func keepChip(
    _ code: borrowing SecretBytes, in slots: inout RekeySlots, _ job: AttemptJob
  ) throws(VaultError) {
    let number = try job.prove(.tpm, code).slot
    guard let tried = job.tally?.slots else { throw .outOfMemory }
    let report = known.first { $0.number == number }
    slots.keep(
      try PreparedSlot.tpm(
        code, kdf: report?.kdf ?? KDFLimits.standard, allowsWeak: true,
        withProtected: report?.holdsProtectedHalf ?? false, beside: tried,
        naming: try naming(of: report)), at: number)
  }

  /// Has the slot of a security key go over, which is touched for its new secret.
  private func keepKey(
    _ pin: borrowing SecretBytes, in slots: inout RekeySlots, _ job: AttemptJob
  ) throws(VaultError) {
    guard let tried = job.tally?.slots else { throw .outOfMemory }
    let report = known.first { $0.number == keySlot }
    slots.keep(
      try PreparedSlot.fido2(
        pin: pin, withProtected: report?.holdsProtectedHalf ?? false, beside: tried,
        renewing: keySlot, naming: try naming(of: report)), at: keySlot)
  }

  private func naming(of report: SlotReport?) throws(VaultError) -> SlotNaming {
    guard let note = report?.note, !note.label.isEmpty else { return .none }
    return try SlotNaming(label: note.label.span, place: note.place.span)
  }

  let asksChip: Bool

  func showKey(in attempt: Attempt, to client: Connection) throws(Refusal) -> Bool {
    if isUniting { return false }
    try show(slots, client)
    return true
  }

  private func show(_ slots: borrowing RekeySlots?, _ client: Connection) throws(Refusal) {
    try wire { () throws(ProtocolError) in
      switch slots {
      case .some(let slots):
        try client.outbox.frames.putReply(
          RecoveryKeyReply(slots.recoveryKeyText))
      case .none: throw .outOfMemory
      }
    }
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked else { throw session.lockedRefusal() }
    if let clonePath { return try beginClone(at: clonePath, in: agent, for: client) }
    let rekey = try agent.work(on: session) { vault throws(VaultError) in try begin(&vault) }
    (session.entrance, session.unites) = (nil, false)
    agent.revokeGrants(of: session)
    client.phase = .sending(RekeyWork(rekey, of: session))
  }

  private func begin(_ vault: inout UnlockedVault) throws(VaultError) -> Rekey {
    switch key {
    case .some(let key): try begin(&vault, by: key, slots)
    case .none: throw .outOfMemory
    }
  }

  private func begin(
    _ vault: inout UnlockedVault, by key: borrowing VaultKey, _ slots: borrowing RekeySlots?
  ) throws(VaultError) -> Rekey {
    switch slots {
    case .some(let slots): try vault.beginRekey(authorizedBy: key, slots, removing: removed)
    case .none: throw .outOfMemory
    }
  }
}

extension Rekeying {
  private func beginClone(
    at path: String, in agent: Agent, for client: Connection
  ) throws(Refusal) {
    // A slot that is gone by now is no reason to copy anything.
    try agent.work(on: session) { vault throws(VaultError) in try prove(&vault, key) }
    let copied = try agent.openLocked(client)
    guard let copier = agent.startedCopier(), let key = key.take(), let slots = slots.take() else {
      throw .outOfMemory
    }
    let backup = Backup(of: copied, toClone: path)
    session.backup = backup
    client.phase = .sending(
      CloneWork(backup, at: path, key, slots, of: session, on: copier, agent.configuration))
  }

  private func prove(
    _ vault: inout UnlockedVault, _ key: borrowing VaultKey?
  ) throws(VaultError) {
    switch key {
    case .some(let key): _ = try vault.protectedKey(from: key)
    case .none: throw .outOfMemory
    }
  }
}

/// Goes on with a rekey: some of the vault a slice, and at the end all of it at once.
final class RekeyWork: Stream {
  /// Parts of the whole after which progress is told.
  private static let steps: UInt64 = 200

  let session: Session
  let isUse = false
  private var rekey: Rekey?
  private var told: UInt64?

  init(_ rekey: consuming Rekey, of session: Session) {
    self.session = session
    self.rekey = consume rekey
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    guard var rekey = rekey.take() else { throw .busy }
    guard try !rekey.step() else {
      let (done, total) = rekey.progress
      self.rekey = consume rekey
      let part = done * Self.steps / total
      guard part != told else { return true }
      told = part
      try write { () throws(ProtocolError) in
        try outbox.frames.putProgress(done: done, total: total)
      }
      return true
    }
    try vault.finish(rekey)
    try write { () throws(ProtocolError) in try outbox.frames.putEnd() }
    return false
  }
}

extension Agent {
  func rekey(
    _ request: RekeyRequest, _ connection: Connection
  ) throws(Refusal) {
    try begin(request, clonePath: nil, connection)
  }

  func clone(_ request: CloneRequest, _ connection: Connection) throws(Refusal) {
    let bytes = request.path.bytes
    guard bytes.count > 0, bytes[0] == UInt8(ascii: "/"),
      let text = try? UTF8Span(validating: bytes)
    else { throw .pathInvalid }
    try begin(request.slots, clonePath: String(copying: text), connection)
  }

  private func begin(
    _ request: RekeyRequest, clonePath: String?, _ connection: Connection
  ) throws(Refusal) {
    guard request.authority.credential == .passcode else {
      throw .rekeyTakesPasscode
    }
    let session = try unlocked(connection)
    let vault = try openForAttempt(connection)
    let known = try work(on: session) { vault throws(VaultError) in try vault.slotReports() }
    let removed = try removed(by: request, of: session)
    let isOfChip = request.flags.contains(.chip)
    let isOfKey = request.flags.contains(.securityKey)
    guard clonePath == nil || (removed.isEmpty && !isOfChip && !isOfKey) else { throw .malformed }
    let file = request.keyFile.bytes
    let keyFile = file.isEmpty ? nil : try secret(file)
    try begin(
      Rekeying(
        session, known, keyFile: keyFile,
        code: isOfChip ? try secret(request.code.bytes) : nil,
        keySlot: request.keySlot, pin: isOfKey ? try secret(request.pin.bytes) : nil,
        wantsRecoveryKey: request.flags.contains(.recoveryKey), clonePath: clonePath,
        removing: removed),
      by: .passcode, request.authority.secret.bytes, codes: .unknown, at: vault,
      of: session, for: connection)
  }

  /// Gives a vault the key that brings together those which several machines gave it.
  func uniteSync(
    _ authority: OwnerWord, _ session: Session, _ connection: Connection
  ) throws(Refusal) {
    guard let credential = authority.credential, [.passcode, .recoveryKey].contains(credential)
    else {
      throw .rekeyTakesPasscode
    }
    let vault = try openForAttempt(connection)
    let known = try work(on: session) { vault throws(VaultError) in try vault.slotReports() }
    try begin(
      Rekeying(
        session, known, keyFile: nil, wantsRecoveryKey: false, isUniting: true, by: credential),
      by: credential, authority.secret.bytes, codes: .unknown, at: vault, of: session,
      for: connection)
  }

  /// Who is to share the vault no longer: somebody who does, and is not this machine.
  private func removed(
    by request: RekeyRequest, of session: Session
  ) throws(Refusal) -> Set<DeviceID> {
    guard request.flags.contains(.removal) else { return [] }
    let device = DeviceID(request.device.bytes)
    let state = try work(on: session) { vault throws(VaultError) in try vault.sharingState() }
    let isOther = state?.devices.contains { $0.id == device && !$0.isThis && !$0.isRemoved }
    guard isOther == true else { throw .notFound(.none) }
    return [device]
  }
}
