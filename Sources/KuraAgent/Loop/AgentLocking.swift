// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

extension Agent {
  /// Locks what may not stay unlocked; asked before each frame, each slice and at each timer.
  func lockDue() {
    guard mayHoldKeys || sessions.contains(where: { $0.isUnlocked }) else { return }
    let now = configuration.clock()
    expireWords(at: now)
    for session in sessions {
      if let reason = session.state.dueLock(at: now) { lock(session, reason) }
    }
  }

  /// Locks a vault: keys wiped, then the state, then the clients that were at work on it
  /// answered; what waits for a disk begins at the end of the turn, and needs no key.
  ///
  /// - Parameter connection: The client that asked for it.
  func lock(_ session: Session, _ reason: LockReason, for connection: Connection? = nil) {
    revokeGrants(of: session, .lock)
    noteLock(of: session, reason, by: connection)
    session.wishes.clear()
    dropChecks(of: session)
    // What they hold goes first: parts of values, and the vault's statements.
    let interrupted = interrupt(session)
    session.lock(reason, at: configuration.clock())
    kura_stack_wipe()
    for work in interrupted { answer(work, session.lockedRefusal()) }
  }

  /// A client that was at work when its vault was locked.
  private struct Interrupted {
    let connection: Connection
    let wasStream: Bool
  }

  /// Takes everything from the clients that are at work on a vault.
  private func interrupt(_ session: Session) -> [Interrupted] {
    var interrupted: [Interrupted] = []
    for connection in connections {
      connection.mustBeServed = true
      if connection.gathered?.session === session { connection.gathered = nil }
      if connection.meeting?.session === session { connection.meeting = nil }
      let isStream = connection.phase.stream != nil
      guard connection.phase.session === session else {
        connection.mustBeTaken = connection.hasPending && !isStream
        continue
      }
      connection.phase = connection.phase.upload == nil ? .ready : .draining
      connection.waitsForRoom = false
      abandonAttempts(of: connection)
      connection.busyDeadline = nil
      interrupted.append(Interrupted(connection: connection, wasStream: isStream))
    }
    // Also of those whose client has gone.
    for attempt in attempts where attempt.session === session { attempt.forget() }
    return interrupted
  }

  /// A reply from before a lock may hold a value: it goes out in this turn, or not at all.
  func letGoOfReplies() {
    for connection in connections where connection.mustBeTaken {
      connection.mustBeTaken = false
      guard connection.hasPending else { continue }
      if connection.outbox.send() == .ended || connection.hasPending { close(connection) }
    }
  }

  /// What a client of a vault that is locked sent before the lock, and what was not served in this turn,
  /// may be half a value, or a passcode behind an attempt: its connection ends.
  func letGoOfRequests() {
    for connection in connections where connection.mustBeServed {
      // Who asked for the lock is served when the file is whole, in a moment.
      guard !connection.isUnfinished, connection.phase.closings == nil else { continue }
      connection.mustBeServed = false
      // A whole request that waits for a seat or the disk is refused in a moment.
      guard connection.isWithinFrame, !connection.isGreeting,
        connection.busyDeadline == nil || connection.phase.isParked,
        (try? session(of: connection))?.isUnlocked != true
      else { continue }
      connection.inbox.wipe()
      do throws(Refusal) {
        let refusal = try lockedRefusal(connection)
        // The rest of an upload was answered by the lock.
        if case .draining = connection.phase {} else { refuse(connection, refusal) }
      } catch { refuse(connection, error) }
      _ = connection.outbox.send()
      close(connection)
    }
  }

  private func answer(_ work: Interrupted, _ refusal: Refusal) {
    let connection = work.connection
    // Where a socket's buffer is small, a part of a slice is left, which may not stay here.
    if connection.hasPending && work.wasStream { return close(connection) }
    refuse(connection, refusal, as: work.wasStream ? .end : .reply)
    flush(connection)
    resumed.append(connection)
  }

  /// Answers those who wait for a vault that has just been unlocked.
  func answerWaiting(_ session: Session) {
    endPrompts(for: session)
    for connection in connections {
      guard case .awaitingUnlock = connection.phase,
        (try? identity(of: connection.vaultPath)) == session.id
      else { continue }
      connection.phase = .ready
      try? connection.outbox.frames.putReply()
      resumed.append(connection)
    }
  }
}
