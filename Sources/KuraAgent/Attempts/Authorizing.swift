// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraSession
internal import KuraVault
internal import SecureMemory

/// Proves a credential of an unlocked vault once more.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class AuthorizeJob: Job, @unchecked Sendable {
  fileprivate private(set) var guess: Guess
  private let credential: Credential
  private var secret: SecretBytes?
  fileprivate var key: VaultKey?
  fileprivate private(set) var failure: VaultError?

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
    } catch { failure = error }
  }

  /// The key, once.
  fileprivate func takeKey() throws(VaultError) -> VaultKey {
    guard let key = key.take() else { throw failure ?? .outOfMemory }
    return key
  }
}

/// A fresh proof under way; what it opens is kept for its connection.
final class Authorizing: Attempt {
  private let owner: Keeper
  private let ticket: UnlockTicket
  private let authorizeJob: AuthorizeJob
  private let credential: CredentialKind

  var keeper: Keeper? { owner }
  var job: any Job { authorizeJob }

  init(_ job: AuthorizeJob, _ credential: CredentialKind, _ keeper: Keeper) {
    authorizeJob = job
    self.credential = credential
    owner = keeper
    ticket = keeper.session.beginAttempt()
  }

  var wrong: WrongCredential? { WrongCredential(authorizeJob.failure, credential) }

  func settle() -> Bool { owner.session.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    guard owner.isUnlocked else { throw owner.lockedDenial() }
    let key = try proof(of: client)
    do throws(Denial) {
      let half = try agent.work(on: owner) { vault throws(VaultError) in
        try vault.protectedKey(from: key)
      }
      client.grant = Grant(half, of: owner, since: agent.configuration.clock().boot)
    } catch {
      // The key is gone: the client may ask again.
      throw error.final(when: true)
    }
    let told = authorizeJob.guess.notice(afterMistakes: client.mistakes)
    client.mistakes = 0
    try wire { () throws(ProtocolError) in try client.outbox.frames.putUnlockReply(told) }
  }

  private func proof(of client: Connection) throws(Denial) -> VaultKey {
    do throws(VaultError) { return try authorizeJob.takeKey() } catch {
      let guess = authorizeJob.guess
      if guess.isCounted { client.mistakes += 1 }
      throw guess.denial(error, at: owner.path, showing: credential).final(when: true)
    }
  }
}

extension Agent {
  func authorize(
    _ request: AuthorizeRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    let keeper = try unlocked(connection)
    var vault = try openLocked(connection)
    let secret = try secret(payload.extracting(request.secret))
    let guess = try guess(at: &vault, of: connection)
    try checkTries(request.credential, typed: secret, guess, at: vault, keeper)
    vault.close()
    let job = AuthorizeJob(guess, Credential(request.credential), secret)
    start(Authorizing(job, request.credential, keeper), for: connection)
  }
}
