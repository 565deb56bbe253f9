// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves a request once the owner's word in it is proved.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class VouchedRequest: Act, @unchecked Sendable {
  private let session: Session
  /// The request's, without the word.
  private let payload: SecretBytes
  /// Kept while the vault is busy; it goes with the request.
  private var proof: OwnerProof?

  init(_ payload: consuming SecretBytes, _ session: Session) {
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
      let request: Request
      do throws(ProtocolError) { request = try Request(payload.bytes) } catch {
        throw Refusal(message: error)
      }
      try agent.serve(request, client, by: proof)
      agent.noteServed(request, client)
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
    _ credential: Credential, _ word: Field, in payload: Span<UInt8>, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let rest = try withoutWord(payload, at: word.place.lowerBound - 3)
    try begin(
      VouchedRequest(rest, session), by: credential, word.bytes, codes: .refused,
      at: try openForAttempt(connection), of: session, for: connection)
  }

  /// The same request as one that carries no word: a zero in its place, behind all else.
  private func withoutWord(_ payload: Span<UInt8>, at place: Int) throws(Refusal) -> SecretBytes {
    let none: InlineArray<1, UInt8> = [0]
    do throws(SecureMemoryError) {
      var rest = try SecretBytes(count: place + 1)
      rest.overwrite(at: 0, with: payload.extracting(first: place))
      rest.overwrite(at: place, with: none.span)
      return rest
    } catch { throw .outOfMemory }
  }
}
