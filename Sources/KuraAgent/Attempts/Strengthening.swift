// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Prepares the slot that takes the place of one that is too cheap to guess, with the same passcode.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class StrengthenJob: Job, @unchecked Sendable {
  private let attempt: UnlockAttempt
  private var passcode: SecretBytes?
  fileprivate var key: VaultKey?
  fileprivate var slot: PreparedSlot?

  init(_ attempt: UnlockAttempt, _ passcode: consuming SecretBytes) {
    self.attempt = attempt
    self.passcode = consume passcode
  }

  func run() {
    guard let passcode = passcode.take() else { return }
    do throws(VaultError) {
      // It was right just now; what it gave then unlocked the vault.
      key = try attempt.open(.passcode, secret: passcode)
      slot = try PreparedSlot.passcode(passcode, kdf: try KDFCalibration.run())
    } catch { slot = nil }
  }
}

/// The end of an unlock by a passcode that was too cheap to guess: its slot is wrapped anew.
///
/// It costs the user one derivation more, once. When it fails, the vault is unlocked all the same, and
/// the next unlock tries again.
final class Strengthening: Attempt {
  private let owner: Session
  private let ticket: UnlockTicket
  private let strengthenJob: StrengthenJob
  /// What the unlock has to tell.
  private let notices: Notice

  var session: Session? { owner }
  var job: any Job { strengthenJob }

  init(_ job: StrengthenJob, _ session: Session, _ notices: Notice) {
    strengthenJob = job
    owner = session
    self.notices = notices
    ticket = session.state.beginAttempt()
  }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    var told = notices
    if owner.isUnlocked, strengthen() {
      told.remove(.weakSlot)
      told.insert(.slotStrengthened)
      agent.noteChange(of: owner)
    }
    try wire { () throws(ProtocolError) in try client.outbox.frames.putUnlockReply(told) }
  }

  private func strengthen() -> Bool {
    guard strengthenJob.key != nil, strengthenJob.slot != nil else { return false }
    do throws(VaultError) {
      try owner.withVault { vault throws(VaultError) in
        // Both were compared with nil just now.
        try vault.changeSlots(
          authorizedBy: strengthenJob.key!, passcode: strengthenJob.slot, recovery: nil)
      }
      return true
    } catch { return false }
  }
}
