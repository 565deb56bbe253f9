// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves a request once the owner's word in it is proved.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class VouchedRequest: Act, @unchecked Sendable {
  private let session: Session
  private let request: Request
  /// The request's, up to the word.
  private let payload: SecretBytes
  /// Kept while the vault is busy; it goes with the request.
  private var proof: OwnerProof?

  init(_ request: Request, _ payload: consuming SecretBytes, _ session: Session) {
    self.request = request
    self.payload = payload
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    proof = try OwnerProof(try job.prove(secret))
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked else { throw session.lockedRefusal() }
    try serve(payload, in: agent, for: client)
  }

  private func serve(
    _ payload: borrowing SecretBytes, in agent: Agent, for client: Connection
  ) throws(Refusal) {
    do throws(Refusal) {
      try agent.serve(request, payload.bytes, client, by: proof)
      agent.noteServed(request, payload.bytes, client)
    } catch {
      guard !error.isWorthAnotherTry else { throw error }
      // The frame that it may name a part of is gone.
      try wire { () throws(ProtocolError) in
        try client.outbox.frames.putRefusal(error, of: payload.bytes)
      }
    }
  }
}

extension Agent {
  /// Has the owner's word of a request proved, which is served after that.
  func vouch(
    _ word: OwnerWord, for request: Request, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let rest = try secret(payload.extracting(0..<word.secret.lowerBound))
    try begin(
      VouchedRequest(request, rest, session), by: word.credential,
      payload.extracting(word.secret), codes: .refused, at: try openForAttempt(connection),
      of: session, for: connection)
  }
}
