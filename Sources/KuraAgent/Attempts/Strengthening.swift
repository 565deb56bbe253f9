// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Ends an unlock by a passcode that was too cheap to guess: its slot is wrapped anew.
///
/// It costs the user one derivation more, once. When it fails, the vault is unlocked all the same, and
/// the next unlock tries again.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Strengthening: Act, @unchecked Sendable {
  private let slots: UnlockAttempt
  private let session: Session
  /// What the unlock has to tell.
  private let notices: Notice
  private var key: VaultKey?
  private var slot: PreparedSlot?

  init(_ slots: UnlockAttempt, _ session: Session, _ notices: Notice) {
    self.slots = slots
    self.session = session
    self.notices = notices
  }

  func prepare(_ passcode: consuming SecretBytes, _ job: AttemptJob) {
    do throws(VaultError) {
      // It was right just now; what it gave then unlocked the vault.
      key = try slots.open(.passcode, secret: passcode)
      slot = try PreparedSlot.passcode(passcode, kdf: try KDFCalibration.run())
    } catch { slot = nil }
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    var told = notices
    if session.isUnlocked, strengthen() {
      told.remove(.weakSlot)
      told.insert(.slotStrengthened)
      agent.noteChange(of: session)
    }
    try wire { () throws(ProtocolError) in try client.outbox.frames.putReply(UnlockReply(told)) }
  }

  private func strengthen() -> Bool {
    guard slot != nil else { return false }
    do throws(VaultError) {
      return try session.withVault { vault throws(VaultError) in
        switch key {
        case .some(let key):
          try vault.changeSlots(authorizedBy: key, passcode: slot, recovery: nil)
          return true
        case .none: return false
        }
      }
    } catch { return false }
  }
}
