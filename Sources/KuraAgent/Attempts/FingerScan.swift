// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraFormat
internal import KuraHardware
internal import KuraProtocol
internal import KuraVault

/// Waits for what a program tells of a finger, of which it takes no more than a byte at a time.
final class FingerScan {
  let session: Session
  /// The program's end is hung up on when this goes: it lets go of the reader then.
  private let pipe: Descriptor
  /// Until when something has to be heard, on the monotonic clock.
  let deadline: UInt64
  /// Whether the reader waits for a finger.
  private var isReady = false

  init(_ pipe: consuming Descriptor, for session: Session, until deadline: UInt64) {
    self.pipe = pipe
    (self.session, self.deadline) = (session, deadline)
  }

  var raw: Int32 { pipe.raw }

  /// What was said since; nil for nothing yet. What is out of place is ``FingerFault/programFailed``.
  func next() -> FingerAnswer? {
    var byte: UInt8 = 0
    let count = unsafe recv(pipe.raw, &byte, 1, Int32(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    guard count == 1, let answer = FingerAnswer(byte: byte) else { return .fault(.programFailed) }
    switch answer {
    case .ready:
      defer { isReady = true }
      return isReady ? .fault(.programFailed) : answer
    case .match, .noMatch, .lockedOut: return isReady ? answer : .fault(.programFailed)
    case .fault: return answer
    }
  }
}

extension Agent {
  /// How long a program may say nothing, in milliseconds: it ends before.
  private static let fingerPatience: UInt64 = 70_000

  /// Has a finger asked for by a program of its own: there is no message by which a client tells of one.
  ///
  /// - Throws: ``Refusal/locked(_:)`` as well: it shows who is there, and opens nothing.
  func askForFinger(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    try checkFinger(of: session)
    let started = configuration.startFinger()
    guard started >= 0 else {
      throw .fingerUnfit(started == -ENOENT ? .noProgram : .programFailed)
    }
    let pipe = Descriptor(owning: started)
    let deadline = configuration.clock().monotonic + Self.fingerPatience
    do throws(AgentError) { try poller.add(pipe.raw, for: .readable, as: .finger) } catch {
      throw .outOfMemory
    }
    connection.phase = .awaitingFinger(FingerScan(pipe, for: session, until: deadline))
  }

  private func checkFinger(of session: Session) throws(Refusal) {
    // Another engine may have switched it off.
    let isOn = try work(on: session) { vault throws(VaultError) in
      _ = try vault.slotReports()
      return vault.policy[.fingerprint] != 0
    }
    guard isOn else { throw .fingerUnfit(.off) }
    guard !session.fingers.isSpent else { throw .fingerUnfit(.spent) }
  }

  /// Something was heard of a finger, whichever it is.
  func hearFingers() {
    for connection in connections {
      while case .awaitingFinger(let scan) = connection.phase, let answer = scan.next() {
        take(answer, of: scan, connection)
      }
    }
  }

  private func take(_ answer: FingerAnswer, of scan: FingerScan, _ connection: Connection) {
    // A machine that wakes up locks first.
    lockDue()
    guard case .awaitingFinger(let current) = connection.phase, current === scan else { return }
    do throws(Refusal) {
      switch answer {
      case .ready:
        try wire { () throws(ProtocolError) in
          try connection.outbox.frames.putProgress(done: 0, total: 0)
        }
        return flush(connection)
      case .match:
        try checkFinger(of: scan.session)
        noteEntry(.finger, of: scan.session, by: connection)
        try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
      case .noMatch:
        scan.session.fingers.fail()
        throw .fingerWrong(left: scan.session.fingers.left)
      case .lockedOut:
        scan.session.fingers.end()
        throw .fingerUnfit(.spent)
      case .fault(let fault): throw .fingerUnfit(fault)
      }
      end(scan, connection)
    } catch { end(scan, connection, error) }
  }

  /// Nothing was heard of the program in time.
  func giveUp(_ scan: FingerScan, _ connection: Connection) {
    end(scan, connection, .fingerUnfit(.programFailed))
  }

  private func end(_ scan: FingerScan, _ connection: Connection, _ refusal: Refusal? = nil) {
    // A lock that came of it has answered already.
    guard case .awaitingFinger(let current) = connection.phase, current === scan else { return }
    connection.phase = .ready
    if let refusal {
      let isWrong = refusal.failure == .fingerWrong || scan.session.fingers.isSpent
      if isWrong {
        noteEntry(
          .finger, code: refusal.failure.rawValue, of: scan.session, by: connection)
      }
      refuse(connection, refusal)
    }
    flush(connection)
    resumed.append(connection)
  }
}
