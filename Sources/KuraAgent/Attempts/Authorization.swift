// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Keeps what a fresh proof opens for its connection.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Authorization: Act, @unchecked Sendable {
  private let session: Session
  private var scope: ProvedScope?
  private var key: VaultKey?

  init(_ scope: ProvedScope, _ session: Session) {
    self.scope = scope
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    key = try job.prove(secret)
  }

  func forget() { scope = nil }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked, let scope else { throw session.lockedRefusal() }
    guard let key = key.take() else { throw .outOfMemory }
    do throws(Refusal) {
      let half = try agent.work(on: session) { vault throws(VaultError) in
        try vault.protectedKey(from: key)
      }
      client.grant = Grant(
        try scope.key(from: half, on: session, in: agent), of: session,
        since: agent.configuration.clock().boot)
    } catch {
      // The key is gone: the client may ask again.
      throw error.final(when: true)
    }
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(UnlockReply(attempt.notices))
    }
  }
}

extension Agent {
  func authorize(
    _ request: AuthorizeRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    try begin(
      Authorization(try ProvedScope(request.scope), session), by: request.authority.credential,
      request.authority.secret.bytes, codes: .taken, at: try openForAttempt(connection),
      of: session, for: connection)
  }
}
