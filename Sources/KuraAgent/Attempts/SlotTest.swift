// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Tells which slot a credential opens, and changes nothing.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class SlotTest: Act, @unchecked Sendable {
  /// The only slot to try; nil for all.
  private let number: UInt8?
  private var opened: (slot: UInt8, kind: SlotKind)?

  init(only number: UInt8?) { self.number = number }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    let key = try job.prove(secret, only: number)
    opened = (key.slot, key.credential.slotKind)
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard let opened else { throw .outOfMemory }
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(SlotReply(number: opened.slot, kind: opened.kind))
    }
  }
}
