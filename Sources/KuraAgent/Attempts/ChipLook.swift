// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Tells how this machine's TPM holds against guessing, which takes a program of its own some time.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class ChipLook: Act, @unchecked Sendable {
  private let chip: any SealingChip
  private var facts: ChipFacts?

  let asksChip = true

  init(_ chip: any SealingChip) { self.chip = chip }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    do throws(ChipFault) { facts = try chip.facts() } catch { throw .chip(error) }
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard let facts else { throw .outOfMemory }
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(ChipReply(facts))
    }
  }
}

extension Agent {
  func lookAtChip(_ connection: Connection) throws(Refusal) {
    try checkAttempts()
    let nothing = try secret(Span())
    start(
      Attempt(ChipLook(configuration.chip(connection.ward)), nothing, for: connection),
      for: connection)
  }
}
