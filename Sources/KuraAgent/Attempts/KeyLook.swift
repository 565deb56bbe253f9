// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Tells what a security key asks for, which takes a program of its own some time.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class KeyLook: Act, @unchecked Sendable {
  private let slots: UnlockAttempt
  private let isNew: Bool
  private var facts: SecurityKeyFacts?
  let asksChip = true

  init(_ slots: UnlockAttempt, forNew isNew: Bool) { (self.slots, self.isNew) = (slots, isNew) }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    facts = try slots.keyFacts(forNew: isNew)
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard let facts else { throw .outOfMemory }
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(SecurityKeyReply(facts))
    }
  }
}

extension Agent {
  func lookAtKey(
    _ request: SecurityKeyRequest, _ connection: Connection
  ) throws(Refusal) {
    var vault = try openForAttempt(connection)
    let slots: UnlockAttempt
    do throws(VaultError) { slots = try vault.attempt() } catch {
      throw Refusal(error, at: connection.vaultPath)
    }
    vault.close()
    let act = KeyLook(slots, forNew: request.isNew)
    start(Attempt(act, try secret(Span()), for: connection), for: connection)
  }
}
