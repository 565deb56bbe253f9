// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// A request that waits until the owner's word in it is proved, and is served with the proof then.
final class Vouching: Attempt {
  private let owner: Session
  private let ticket: UnlockTicket
  private let credentialJob: CredentialJob
  private let credential: Credential
  private let request: Request
  /// The request's, up to the word.
  private let payload: SecretBytes
  /// Kept while the vault is busy; it goes with the request.
  private var proof: OwnerProof?

  var session: Session? { owner }
  var job: any Job { credentialJob }

  init(
    _ request: Request, _ payload: consuming SecretBytes, _ job: CredentialJob,
    _ credential: Credential, _ session: Session
  ) {
    self.request = request
    self.payload = payload
    credentialJob = job
    self.credential = credential
    owner = session
    ticket = session.state.beginAttempt()
  }

  var wrong: WrongCredential? { WrongCredential(credentialJob.failure, credential) }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    guard owner.isUnlocked else { throw owner.lockedDenial() }
    if proof == nil { proof = try prove(client) }
    try serve(payload, in: agent, for: client)
  }

  private func serve(
    _ payload: borrowing SecretBytes, in agent: Agent, for client: Connection
  ) throws(Denial) {
    do throws(Denial) {
      try agent.serve(request, payload.bytes, client, by: proof)
      agent.noteServed(request, payload.bytes, client)
    } catch {
      guard case .field(let field) = error.text else { throw error }
      let name = payload.bytes.extracting(field)
      // The frame that it names a part of is gone.
      try wire { () throws(ProtocolError) in
        try client.outbox.refuse(error, naming: name, as: .reply)
      }
    }
  }

  private func prove(_ client: Connection) throws(Denial) -> OwnerProof {
    do throws(VaultError) {
      let proof = try OwnerProof(try credentialJob.takeKey())
      client.mistakes = 0
      return proof
    } catch {
      let guess = credentialJob.guess
      if guess.isCounted { client.mistakes += 1 }
      throw guess.denial(error, at: owner.path, showing: credential, takesCode: false)
        .final(when: true)
    }
  }
}

extension Agent {
  /// Has the owner's word of a request proved, which is served after that.
  func vouch(
    _ word: OwnerWord, for request: Request, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkMemory()
    try checkAttempts()
    let session = try unlocked(connection)
    var vault = try openLocked(connection)
    let guess = try guess(at: &vault, of: connection)
    try checkTries(word.credential, at: vault, session)
    vault.close()
    let job = CredentialJob(
      guess, word.credential, try secret(payload.extracting(word.secret)),
      takingCodes: false)
    let rest = try secret(payload.extracting(0..<word.secret.lowerBound))
    start(Vouching(request, rest, job, word.credential, session), for: connection)
  }
}
