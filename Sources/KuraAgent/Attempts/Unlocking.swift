// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// An unlock under way.
final class Unlocking: Attempt {
  private let owner: Session
  private let path: String
  private let ticket: UnlockTicket
  private let credentialJob: CredentialJob
  private let asked: AskedTimes
  private let credential: Credential
  private let acceptsRollback: Bool
  private let acceptsExchange: Bool
  private let isAuthorizing: Bool
  /// What opens protected values, where the client asked for that, too.
  private var half: ProtectedKey?
  private var vault: LockedVault?

  var session: Session? { owner }
  var job: any Job { credentialJob }

  init(
    _ request: UnlockRequest, _ job: CredentialJob, _ vault: consuming LockedVault,
    _ session: Session, at path: String
  ) {
    self.path = path
    asked = AskedTimes(idleTimeout: request.idleTimeout, maxSession: request.maxSession)
    credential = request.credential
    acceptsRollback = request.flags.contains(.acceptRollback)
    acceptsExchange = request.flags.contains(.acceptExchange)
    isAuthorizing = request.flags.contains(.authorize)
    credentialJob = job
    owner = session
    ticket = session.state.beginAttempt()
    self.vault = consume vault
  }

  var wrong: WrongCredential? { WrongCredential(credentialJob.failure, credential) }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    let notices: Notice
    let guess = credentialJob.guess
    do throws(VaultError) { notices = try unlock(at: agent.configuration.clock()) } catch {
      if guess.isCounted { client.mistakes += 1 }
      // The first try took the key and the vault: the client may ask again.
      throw guess.denial(error, at: path, showing: credential).final(when: true)
    }
    agent.noteUnlock(of: owner, by: client, credential, notices)
    let told = notices.union(guess.notice(afterMistakes: client.mistakes))
    client.mistakes = 0
    if let half = half.take() {
      client.grant = Grant(half, of: owner, since: agent.configuration.clock().boot)
    }
    agent.answerWaiting(owner)
    if owner.mayBeStrengthened, let job = credentialJob.strengthening() {
      // The answer follows when that is done.
      return agent.start(Strengthening(job, owner, told), for: client)
    }
    try wire { () throws(ProtocolError) in try client.outbox.frames.putUnlockReply(told) }
  }

  private func unlock(at now: Moment) throws(VaultError) -> Notice {
    let key = try credentialJob.takeKey()
    guard let vault = vault.take() else { throw .busy }
    let isAuthorizing = isAuthorizing && key.holdsProtectedHalf
    let origin = key.origin
    if owner.isUnlocked {
      vault.close()
      let isAccepted = try owner.withVault { vault throws(VaultError) in
        try check(&vault, origin)
        return try vault.checkPlace(path, accepting: acceptsExchange)
      }
      if isAuthorizing {
        half = try owner.withVault { vault throws(VaultError) in try vault.protectedKey(from: key) }
      }
      owner.begin(asking: asked, at: now)
      return isAccepted ? [.alreadyUnlocked, .exchangeAccepted] : .alreadyUnlocked
    }
    // Of no use unless the unlock proves that the slot is the vault's.
    let half = isAuthorizing ? try key.protectedKey(of: vault.id) : nil
    var opened = try vault.unlock(
      with: key, acceptingRollback: acceptsRollback, acceptingExchange: acceptsExchange)
    do throws(VaultError) { try check(&opened, origin) } catch {
      opened.fold()
      throw error
    }
    owner.unlock(opened, by: path, asking: asked, at: now)
    self.half = consume half
    let memory: Notice = LockedMemory.status.unlockedByteCount > 0 ? .memoryNotLocked : []
    return owner.notices.union(memory)
  }

  /// Longer times than the vault's take what the owner knows.
  private func check(
    _ vault: inout UnlockedVault, _ origin: KeyOrigin
  ) throws(VaultError) {
    try vault.checkTimes(
      idleTimeout: asked.idleTimeout, maxSession: asked.maxSession, by: origin)
  }
}

extension Agent {
  func unlock(
    _ request: UnlockRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    // A copy in the place of an unlocked vault ends its session first, so that it is accepted at the first go.
    if let session = try session(of: connection), session.isUnlocked {
      // SQLite looks at a file anew when somebody else has opened it.
      try openLocked(connection).close()
      _ = try? work(on: session) { vault throws(VaultError) in try vault.slotReports() }
    }
    var vault = try openLocked(connection)
    let secret = try secret(payload.extracting(request.secret))
    let session = session(of: vault, at: connection.vaultPath)
    let guess = try guess(at: &vault, of: connection)
    try checkTries(request.credential, typed: secret, guess, at: vault, session)
    let job = CredentialJob(
      guess, request.credential, secret, keepingPasscode: true)
    start(
      Unlocking(request, job, vault, session, at: connection.vaultPath), for: connection)
  }
}
