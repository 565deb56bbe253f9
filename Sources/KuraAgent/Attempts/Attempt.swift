// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Takes an act from its request to its answer: the worker prepares it, the client says that it has the recovery
/// key where there is one, and it is performed.
final class Attempt {
  let job: AttemptJob
  /// It may go first.
  private(set) weak var client: Connection?
  let verb: Verb
  let peer: Peer
  /// Nil for a vault that is only being made.
  let session: Session?
  private let act: any Act
  private let ticket: UnlockTicket?
  /// What its client is to be told of what was tried before.
  private(set) var notices: Notice = []
  /// The file of a vault that was locked when it began, until that is unlocked.
  var file: LockedVault?
  /// The same, unlocked for a change alone.
  private var opened: UnlockedVault?

  init(
    _ act: any Act, _ secret: consuming SecretBytes, _ tally: Tally? = nil,
    of session: Session? = nil, at file: consuming LockedVault? = nil, for client: Connection
  ) {
    self.act = act
    job = AttemptJob(act, secret, tally)
    self.client = client
    verb = client.verb
    peer = client.peer
    self.session = session
    ticket = session?.state.beginAttempt()
    self.file = consume file
  }

  /// The credential that turned out to be wrong, once the job is done; nil for none.
  var wrong: WrongCredential? { job.tally.flatMap { WrongCredential(job.failure, $0.credential) } }

  /// Notes that the job is done, whether anybody waits for it or not.
  ///
  /// - Returns: Whether what it found may still be used: the vault was not locked since.
  func settle() -> Bool {
    guard let session, let ticket else { return true }
    return session.state.endAttempt(ticket)
  }

  /// Uses what the worker found, for the client that still waits.
  func finish(in agent: Agent, for client: Connection) throws(Refusal) {
    try judge(client)
    // Nothing changes before somebody has the key.
    guard try !act.showKey(in: self, to: client) else { return agent.awaitWord(self, of: client) }
    try perform(in: agent, for: client)
  }

  /// Lets go of names that a lock is to leave nothing of, before the worker is done.
  func forget() { act.forget() }

  func perform(in agent: Agent, for client: Connection) throws(Refusal) {
    try act.perform(self, in: agent, for: client)
  }

  private func judge(_ client: Connection) throws(Refusal) {
    let tally = job.tally
    if let failure = job.failure {
      if tally?.isCounted == true { client.mistakes += 1 }
      let refusal =
        tally?.refusal(failure, at: client.vaultPath) ?? Refusal(failure, at: client.vaultPath)
      // The try took what it was made with: the client may ask again.
      throw refusal.final(when: true)
    }
    notices = tally?.notice(afterMistakes: client.mistakes) ?? []
    if tally != nil { client.mistakes = 0 }
    if tally?.credential == .passcode { session?.fingers = FingerTries() }
  }
}

// MARK: - Changes

extension Attempt {
  /// Changes the vault, which is unlocked for that alone where it is locked: somebody who forgot the passcode
  /// has a recovery key.
  func change<Result>(
    unlockedBy key: inout VaultKey?,
    _ body: (inout UnlockedVault) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    let result = try look(unlockedBy: &key, body)
    opened.take()?.fold()
    return result
  }

  /// Looks into the vault before it is changed, and has it open until then.
  func look<Result>(
    unlockedBy key: inout VaultKey?,
    _ body: (inout UnlockedVault) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    if let session, session.isUnlocked { return try session.withVault(body) }
    if opened == nil {
      guard let file = file.take(), let key = key.take() else { throw .credentialStale }
      opened = try file.unlock(with: key)
    }
    // Assigned just now, or by the try before; it stays for the next one when the file is busy.
    // swift-format-ignore: NeverForceUnwrap
    return try body(&opened!)
  }

  /// Whether another try would find nothing to work with: the unlock took the vault and left none.
  var isSpent: Bool { session?.isUnlocked != true && file == nil && opened == nil }
}

// MARK: - Beginning and ending

extension Agent {
  /// Opens the file of a client's vault, unless no attempt can be made at it now.
  func openForAttempt(_ connection: Connection) throws(Refusal) -> LockedVault {
    try checkMemory()
    try checkAttempts()
    return try openLocked(connection)
  }

  /// Has a credential proved, and what it is shown for done then.
  func begin(
    _ act: any Act, by credential: Credential, _ shown: Span<UInt8>, codes: Tally.Codes,
    at vault: consuming LockedVault, of session: Session, for connection: Connection
  ) throws(Refusal) {
    let secret = try secret(shown)
    let tally: Tally
    do throws(VaultError) {
      tally = Tally(try vault.attempt(), for: credential, codes, tallies)
    } catch { throw Refusal(error, at: connection.vaultPath) }
    try checkWait(tally, secret, session)
    var file: LockedVault? = consume vault
    // The session has what a change of an unlocked vault takes.
    if session.isUnlocked { file.take()?.close() }
    start(Attempt(act, secret, tally, of: session, at: file, for: connection), for: connection)
  }

  /// Hands an attempt's job to the worker; its client waits meanwhile.
  func start(_ attempt: Attempt, for connection: Connection) {
    attempts.append(attempt)
    connection.phase = .attempting(attempt)
    (attempt.job.asksChip ? startedChipWorker() : worker).start(attempt.job)
  }

  /// The thread that a TPM or a touch may keep waiting, so that it holds up nobody else.
  private func startedChipWorker() -> Worker {
    if let chipWorker { return chipWorker }
    guard let made = try? Worker(),
      (try? poller.add(made.noticeDescriptor, for: .readable, as: .work)) != nil
    else { return worker }
    chipWorker = made
    return made
  }

  /// Refuses more attempts than there can be clients; those of clients that went are under way.
  func checkAttempts() throws(Refusal) {
    guard attempts.count < configuration.limits.seats else { throw .busy }
  }

  /// Drops what a client asked for and the worker has not begun, with its secrets and its file.
  ///
  /// What is under way runs to its end, but that no hardware is asked for it any more.
  func abandonAttempts(of client: Connection) {
    client.ward.end()
    client.ward = HardwareWard()
    attempts.removeAll { attempt in
      guard attempt.client === client,
        worker.withdraw(attempt.job) || chipWorker?.withdraw(attempt.job) == true
      else { return false }
      _ = attempt.settle()
      return true
    }
  }

  /// Takes over what the worker has done.
  func finishWork() {
    for job in worker.finished() + (chipWorker?.finished() ?? []) {
      guard let index = attempts.firstIndex(where: { $0.job === job }) else { continue }
      finish(attempts.remove(at: index))
    }
  }

  private func finish(_ attempt: Attempt) {
    lockDue()
    let counts = attempt.settle()
    noteWrong(attempt)
    // Without its client, or after a lock, what was found is dropped, and wiped with that.
    guard counts, let client = attempt.client, case .attempting(let current) = client.phase,
      current === attempt
    else { return }
    conclude(attempt, for: client) { () throws(Refusal) in
      try attempt.finish(in: self, for: client)
    }
  }

  /// Performs an attempt again that found its vault busy.
  func performAgain(_ attempt: Attempt, for client: Connection) {
    conclude(attempt, for: client) { () throws(Refusal) in
      try attempt.perform(in: self, for: client)
    }
  }

  private func conclude(
    _ attempt: Attempt, for client: Connection, _ body: () throws(Refusal) -> Void
  ) {
    client.phase = .ready
    let written = client.outbox.frames.count
    do throws(Refusal) {
      try body()
      client.busyDeadline = nil
      if case .ready = client.phase { noteDone(client) }
    } catch {
      client.outbox.frames.removeLast(client.outbox.frames.count - written)
      if error.isWorthAnotherTry, postpone(client) {
        client.phase = .attempting(attempt)
        return
      }
      client.busyDeadline = nil
      refuse(client, error)
    }
    pump(client)
  }
}

extension Agent {
  /// Opens the file of a client's vault; nothing in it is secret yet.
  func openLocked(_ connection: Connection) throws(Refusal) -> LockedVault {
    let path = connection.vaultPath
    guard !path.isEmpty else { throw .pathInvalid }
    try checkNotClosing(path)
    do throws(VaultError) {
      return try LockedVault(at: path, options: options(for: connection))
    } catch {
      throw Refusal(error, at: path)
    }
  }

  /// The session of a vault, made when there is none yet.
  func session(of vault: borrowing LockedVault, at path: String) -> Session {
    let id = vault.fileID
    if let session = sessions.first(where: { $0.id == id }) { return session }
    sessions.removeAll {
      $0.path == path && !$0.isUnlocked && !$0.state.isUnlocking && $0.closing == nil
    }
    let session = Session(
      id: id, vault: vault.id, path: path, at: configuration.clock())
    sessions.append(session)
    return session
  }

  private func options(for connection: Connection) -> VaultOptions {
    var options = options
    options.chip = configuration.chip(connection.ward)
    options.keys = configuration.keys(connection.ward)
    return options
  }

  var options: VaultOptions {
    let clock = configuration.clock
    var options = VaultOptions(
      stateDirectory: configuration.stateDirectory, now: { clock().wall })
    options.memory = memory
    options.look = { KeyFileLook.soon(at: $0) }
    return options
  }

  /// A secret of the request, to outlive it.
  func secret(_ bytes: Span<UInt8>) throws(Refusal) -> SecretBytes {
    do throws(SecureMemoryError) { return try SecretBytes(copying: bytes) } catch {
      throw .outOfMemory
    }
  }

  /// Refuses to hold keys that may reach swap, where that was asked for.
  func checkMemory() throws(Refusal) {
    guard configuration.requiresLockedMemory else { return }
    if LockedMemory.status.unlockedByteCount > 0 { throw .memoryNotLocked }
  }
}
