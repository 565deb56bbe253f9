// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraSession
internal import KuraVault
internal import SecureMemory

/// Derives a vault's key from what a client presents.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class UnlockJob: Job, @unchecked Sendable {
  fileprivate private(set) var guess: Guess
  private let credential: Credential
  private var secret: SecretBytes?
  private var key: VaultKey?
  fileprivate private(set) var failure: VaultError?
  /// A passcode that was right, in case its slot is to be wrapped anew; wiped with the job.
  private var proved: SecretBytes?

  init(_ guess: Guess, _ credential: Credential, _ secret: consuming SecretBytes) {
    self.guess = guess
    self.credential = credential
    self.secret = consume secret
  }

  func mayBegin() -> Bool { guess.reach(credential) }

  func run() {
    guard let secret = secret.take() else { return }
    do throws(VaultError) {
      key =
        credential == .passcode
        ? try guess.openTyped(secret) : try guess.open(credential, secret: secret)
      if credential == .passcode { proved = consume secret }
    } catch { failure = error }
  }

  /// What wraps the slot anew by the passcode that opened it; once.
  func strengthening() -> StrengthenJob? {
    guard let passcode = proved.take() else { return nil }
    return StrengthenJob(guess.attempt, passcode)
  }

  /// The key, once.
  func takeKey() throws(VaultError) -> VaultKey {
    guard let key = key.take() else { throw failure ?? .outOfMemory }
    return key
  }
}

/// An unlock under way.
final class Unlocking: Attempt {
  private let owner: Keeper
  private let ticket: UnlockTicket
  private let unlockJob: UnlockJob
  private let asked: AskedTimes
  private let credential: CredentialKind
  private let acceptsRollback: Bool
  private let isAuthorizing: Bool
  /// What opens protected values, where the client asked for that, too.
  private var half: ProtectedKey?
  private var vault: LockedVault?

  var keeper: Keeper? { owner }
  var job: any Job { unlockJob }

  init(
    _ request: UnlockRequest, _ job: UnlockJob, _ vault: consuming LockedVault, _ keeper: Keeper
  ) {
    asked = AskedTimes(idleTimeout: request.idleTimeout, maxSession: request.maxSession)
    credential = request.credential
    acceptsRollback = request.flags.contains(.acceptRollback)
    isAuthorizing = request.flags.contains(.authorize)
    unlockJob = job
    owner = keeper
    ticket = keeper.session.beginAttempt()
    self.vault = consume vault
  }

  var wrong: WrongCredential? { WrongCredential(unlockJob.failure, credential) }

  func settle() -> Bool { owner.session.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    let notices: Notice
    let guess = unlockJob.guess
    do throws(VaultError) { notices = try unlock(at: agent.configuration.clock()) } catch {
      if guess.isCounted { client.mistakes += 1 }
      // The first try took the key and the vault: the client may ask again.
      throw guess.denial(error, at: owner.path, showing: credential).final(when: true)
    }
    agent.noteUnlock(of: owner, by: client, credential, notices)
    let told = notices.union(guess.notice(afterMistakes: client.mistakes))
    client.mistakes = 0
    if let half = half.take() {
      client.grant = Grant(half, of: owner, since: agent.configuration.clock().boot)
    }
    agent.answerWaiting(owner)
    if owner.mayBeStrengthened, let job = unlockJob.strengthening() {
      // The answer follows when that is done.
      return agent.start(Strengthening(job, owner, told), for: client)
    }
    try wire { () throws(ProtocolError) in try client.outbox.frames.putUnlockReply(told) }
  }

  private func unlock(at now: Moment) throws(VaultError) -> Notice {
    let key = try unlockJob.takeKey()
    guard let vault = vault.take() else { throw .busy }
    let isAuthorizing = isAuthorizing && key.holdsProtectedHalf
    if owner.isUnlocked {
      vault.close()
      if isAuthorizing {
        half = try owner.withVault { vault throws(VaultError) in try vault.protectedKey(from: key) }
      }
      owner.begin(asking: asked, at: now)
      return [.alreadyUnlocked]
    }
    // Of no use unless the unlock proves that the slot is the vault's.
    let half = isAuthorizing ? try key.protectedKey(of: vault.id) : nil
    owner.unlock(
      try vault.unlock(with: key, acceptingRollback: acceptsRollback), asking: asked, at: now)
    self.half = consume half
    return Notice(owner.notices)
  }
}

extension Notice {
  /// What the vault has to say at an unlock, in the protocol's numbers.
  init(_ notices: UnlockNotices) {
    self = []
    if notices.contains(.firstTimeHere) { insert(.firstSeen) }
    if notices.contains(.rollbackAccepted) { insert(.rollbackAccepted) }
    if notices.contains(.weakKDF) { insert(.weakSlot) }
    if notices.contains(.seenFileUnwritable) { insert(.seenNotKept) }
    if notices.contains(.seenFileDamaged) { insert(.seenDamaged) }
    if LockedMemory.status.unlockedByteCount > 0 { insert(.memoryNotLocked) }
  }
}

extension Agent {
  func unlock(
    _ request: UnlockRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    var vault = try openLocked(connection)
    let secret = try secret(payload.extracting(request.secret))
    let keeper = keeper(of: vault, at: connection.vaultPath)
    let guess = try guess(at: &vault, of: connection)
    try checkTries(request.credential, typed: secret, guess, at: vault, keeper)
    let job = UnlockJob(guess, Credential(request.credential), secret)
    start(Unlocking(request, job, vault, keeper), for: connection)
  }
}
