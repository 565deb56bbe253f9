// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// A fresh proof under way; what it opens is kept for its connection.
final class Authorizing: Attempt {
  private let owner: Session
  private let ticket: UnlockTicket
  private let credentialJob: CredentialJob
  private let credential: Credential

  var session: Session? { owner }
  var job: any Job { credentialJob }

  init(_ job: CredentialJob, _ credential: Credential, _ session: Session) {
    credentialJob = job
    self.credential = credential
    owner = session
    ticket = session.state.beginAttempt()
  }

  var wrong: WrongCredential? { WrongCredential(credentialJob.failure, credential) }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

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
    let told = credentialJob.guess.notice(afterMistakes: client.mistakes)
    client.mistakes = 0
    try wire { () throws(ProtocolError) in try client.outbox.frames.putUnlockReply(told) }
  }

  private func proof(of client: Connection) throws(Denial) -> VaultKey {
    do throws(VaultError) { return try credentialJob.takeKey() } catch {
      let guess = credentialJob.guess
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
    let session = try unlocked(connection)
    var vault = try openLocked(connection)
    let secret = try secret(payload.extracting(request.secret))
    let guess = try guess(at: &vault, of: connection)
    try checkTries(request.credential, typed: secret, guess, at: vault, session)
    vault.close()
    let job = CredentialJob(guess, request.credential, secret)
    start(Authorizing(job, request.credential, session), for: connection)
  }
}
