// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Proves a passcode, and a key file where one is shown, and prepares the slots for a new vault key.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class RekeyJob: Job, @unchecked Sendable {
  fileprivate private(set) var guess: Guess
  private let wantsRecoveryKey: Bool
  private var passcode: SecretBytes?
  private var keyFile: SecretBytes?
  private let known: [SlotReport]
  fileprivate private(set) var key: VaultKey?
  fileprivate private(set) var slots: RekeySlots?
  fileprivate private(set) var failure: VaultError?
  /// Whether it was the key file that opened nothing.
  fileprivate private(set) var failedAt = Credential.passcode

  init(
    _ guess: Guess, _ known: [SlotReport], passcode: consuming SecretBytes,
    keyFile: consuming SecretBytes?, wantsRecoveryKey: Bool
  ) {
    self.guess = guess
    self.known = known
    self.passcode = consume passcode
    self.keyFile = consume keyFile
    self.wantsRecoveryKey = wantsRecoveryKey
  }

  func mayBegin() -> Bool { guess.reach(.passcode) }

  func run() {
    guard let passcode = passcode.take() else { return }
    do throws(VaultError) {
      let key = try guess.open(.passcode, secret: passcode)
      slots = try prepare(passcode, at: key.slot)
      self.key = consume key
    } catch { failure = error }
  }

  private func prepare(
    _ passcode: borrowing SecretBytes, at slot: UInt8
  ) throws(VaultError) -> RekeySlots {
    var number: UInt8 = 0
    var file: PreparedSlot?
    if let shown = keyFile.take() {
      failedAt = .keyFile
      number = try guess.attempt.open(.keyFile, secret: shown).slot
      failedAt = .passcode
      let report = known.first { $0.number == number }
      file = try PreparedSlot.keyFile(
        shown, withProtected: report?.holdsProtectedHalf ?? false, naming: try naming(of: report))
    }
    // It costs what it did: who chose that chose it for this passcode.
    let cost = known.first { $0.number == slot }?.kdf ?? KDFLimits.standard
    return RekeySlots(
      passcode: try PreparedSlot.passcode(passcode, kdf: cost, allowsWeak: true), keyFile: file,
      keyFileNumber: number,
      recovery: wantsRecoveryKey ? try PreparedSlot.recoveryKey() : nil)
  }

  private func naming(of report: SlotReport?) throws(VaultError) -> SlotNaming {
    guard let note = report?.note, !note.label.isEmpty else { return .none }
    return try SlotNaming(label: note.label.span, place: note.place.span)
  }
}

/// A rekey that is asked for: its slots are prepared, and its client has the new recovery key.
final class RekeyAttempt: Attempt {
  private let owner: Session
  private let ticket: UnlockTicket
  private let rekeyJob: RekeyJob

  var session: Session? { owner }
  var job: any Job { rekeyJob }

  init(_ job: RekeyJob, _ session: Session) {
    rekeyJob = job
    owner = session
    ticket = session.state.beginAttempt()
  }

  var wrong: WrongCredential? { WrongCredential(rekeyJob.failure, rekeyJob.failedAt) }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    if let failure = rekeyJob.failure {
      if rekeyJob.guess.isCounted { client.mistakes += 1 }
      let denial = rekeyJob.guess.denial(failure, at: owner.path, showing: rekeyJob.failedAt)
      throw denial.final(when: true)
    }
    client.mistakes = 0
    try show(rekeyJob.slots, client)
    agent.awaitWord(self, of: client)
  }

  private func show(_ slots: borrowing RekeySlots?, _ client: Connection) throws(Denial) {
    try wire { () throws(ProtocolError) in
      switch slots {
      case .some(let slots): try client.outbox.frames.putRecoveryKeyReply(slots.recoveryKeyText)
      case .none: throw .outOfMemory
      }
    }
  }
}

extension RekeyAttempt: Confirmable {
  func confirmed(in agent: Agent, for client: Connection) throws(Denial) {
    // A job without a failure has left both; comparing first keeps the borrow short.
    guard owner.isUnlocked else { throw owner.lockedDenial() }
    guard rekeyJob.key != nil, rekeyJob.slots != nil else { throw Denial(.outOfMemory) }
    let rekey = try agent.work(on: owner) { vault throws(VaultError) in
      try vault.beginRekey(authorizedBy: rekeyJob.key!, rekeyJob.slots!)
    }
    agent.revokeGrants(of: owner)
    client.stream = RekeyWork(rekey, of: owner)
  }
}

/// A rekey under way: some of the vault a slice, and at the end all of it at once.
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
    _ request: RekeyRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    guard request.authority.credential == .passcode else {
      throw Denial(.denied, text: .words("a new vault key takes the passcode"))
    }
    let session = try unlocked(connection)
    var vault = try openLocked(connection)
    try checkTries(.passcode, at: vault, session)
    let known = try work(on: session) { vault throws(VaultError) in try vault.slotReports() }
    let passcode = try secret(payload.extracting(request.authority.secret))
    let file = payload.extracting(request.keyFile)
    let keyFile = file.isEmpty ? nil : try secret(file)
    let guess = try guess(at: &vault, of: connection)
    vault.close()
    let job = RekeyJob(
      guess, known, passcode: passcode, keyFile: keyFile,
      wantsRecoveryKey: request.flags.contains(.recoveryKey))
    start(RekeyAttempt(job, session), for: connection)
  }
}
