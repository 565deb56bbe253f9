// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Proves the current passcode or recovery key and prepares the slots that replace them.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class PasscodeJob: Job, @unchecked Sendable {
  fileprivate private(set) var guess: Guess
  private let request: PasscodeRequest
  private var current: SecretBytes?
  private var new: SecretBytes?
  /// Whether the vault has to be unlocked for the change, which takes a key of its own.
  private let unlocks: Bool
  fileprivate var key: VaultKey?
  fileprivate var unlockKey: VaultKey?
  fileprivate var passcode: PreparedSlot?
  fileprivate var recovery: PreparedSlot?
  private(set) var failure: VaultError?

  var credential: Credential { request.credential }

  init(
    _ guess: Guess, _ request: PasscodeRequest, current: consuming SecretBytes,
    new: consuming SecretBytes, unlocks: Bool
  ) {
    self.unlocks = unlocks
    self.guess = guess
    self.request = request
    self.current = consume current
    self.new = consume new
  }

  func mayBegin() -> Bool { guess.reach(request.credential) }

  func run() {
    guard let current = current.take(), let new = new.take() else { return }
    do throws(VaultError) {
      let credential = request.credential
      key = try guess.open(credential, secret: current)
      if unlocks { unlockKey = try guess.attempt.open(credential, secret: current) }
      passcode = try prepared(new)
      guard request.flags.contains(.recoveryKey) else { return }
      recovery = try PreparedSlot.recoveryKey()
    } catch { failure = error }
  }
}

extension PasscodeJob {
  /// The slot for the new passcode; a code that was shown is changed for another code, which opens no more.
  private func prepared(_ new: borrowing SecretBytes) throws(VaultError) -> PreparedSlot {
    let kdf = try KDFParameters.wanted(request.cost)
    let allowsWeak = request.flags.contains(.weakKDF)
    guard request.credential == .local else {
      return try .passcode(new, kdf: kdf, allowsWeak: allowsWeak)
    }
    return try .local(
      new, kdf: kdf, allowsWeak: allowsWeak, withProtected: key?.opensProtected ?? false)
  }
}

/// A change of the passcode under way; the session stays as it is.
final class PasscodeChange: Attempt {
  private let owner: Session
  private let ticket: UnlockTicket
  private let passcodeJob: PasscodeJob
  private var vault: LockedVault?
  /// A locked vault, open for the change alone.
  private var opened: UnlockedVault?

  var session: Session? { owner }
  var job: any Job { passcodeJob }

  init(_ job: PasscodeJob, _ vault: consuming LockedVault, _ session: Session) {
    passcodeJob = job
    owner = session
    ticket = session.state.beginAttempt()
    self.vault = consume vault
  }

  var wrong: WrongCredential? { WrongCredential(passcodeJob.failure, passcodeJob.credential) }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    if let failure = passcodeJob.failure { throw denial(failure, client) }
    client.mistakes = 0
    guard passcodeJob.recovery != nil else {
      try perform(in: agent, for: client)
      return try answer(passcodeJob.recovery, client)
    }
    // Neither the passcode nor the key changes before somebody has the new key.
    try answer(passcodeJob.recovery, client)
    agent.awaitWord(self, of: client)
  }

  private func denial(_ error: VaultError, _ client: Connection) -> Denial {
    if passcodeJob.guess.isCounted { client.mistakes += 1 }
    let denial = passcodeJob.guess.denial(
      error, at: owner.path, showing: passcodeJob.credential, takesCode: false)
    return denial.final(when: isSpent)
  }

  /// Whether another try would find nothing to work with.
  private var isSpent: Bool { passcodeJob.failure != nil || (vault == nil && opened == nil) }

  private func answer(
    _ recovery: borrowing PreparedSlot?, _ client: Connection
  ) throws(Denial) {
    try wire { () throws(ProtocolError) in
      switch recovery {
      case .some(let slot): try client.outbox.frames.putRecoveryKeyReply(slot.recoveryKeyText)
      case .none: try client.outbox.frames.putRecoveryKeyReply(Span())
      }
    }
  }
}

// MARK: - The change

extension PasscodeChange: Confirmable {
  func confirmed(in agent: Agent, for client: Connection) throws(Denial) {
    try perform(in: agent, for: client)
    try wire { () throws(ProtocolError) in try client.outbox.frames.putReply() }
  }

  private func perform(in agent: Agent, for client: Connection) throws(Denial) {
    do throws(VaultError) {
      if owner.isUnlocked {
        try owner.withVault { vault throws(VaultError) in try change(&vault) }
      } else {
        try changeLocked()
      }
    } catch { throw denial(error, client) }
    // What proved the old passcode reads no more.
    agent.revokeGrants(of: owner)
    if owner.isUnlocked { agent.noteChange(of: owner) }
  }

  private func change(_ vault: inout UnlockedVault) throws(VaultError) {
    // A job without a failure has left its key; comparing first keeps the borrow short.
    guard passcodeJob.key != nil else { throw .outOfMemory }
    guard passcodeJob.credential != .local else {
      guard passcodeJob.recovery == nil, passcodeJob.passcode != nil else { throw .credentialStale }
      return try vault.changeCode(passcodeJob.passcode!, authorizedBy: passcodeJob.key!)
    }
    try vault.changeSlots(
      authorizedBy: passcodeJob.key!, passcode: passcodeJob.passcode,
      recovery: passcodeJob.recovery)
  }

  /// Unlocks for the change alone: somebody who forgot the passcode has a recovery key.
  private func changeLocked() throws(VaultError) {
    if opened == nil {
      guard let locked = vault.take(), let key = passcodeJob.unlockKey.take() else {
        throw .credentialStale
      }
      opened = try locked.unlock(with: key)
    }
    // Assigned just now, or by the try before; it stays for the next one when the file is busy.
    try change(&opened!)
    opened.take()?.fold()
  }
}

extension Agent {
  func changePasscode(
    _ request: PasscodeRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    var vault = try openLocked(connection)
    let session = session(of: vault, at: connection.vaultPath)
    try checkTries(request.credential, at: vault, session)
    let current = try secret(payload.extracting(request.current))
    let new = try secret(payload.extracting(request.new))
    let job = PasscodeJob(
      try guess(at: &vault, of: connection), request, current: current, new: new,
      unlocks: !session.isUnlocked)
    start(PasscodeChange(job, vault, session), for: connection)
  }
}
