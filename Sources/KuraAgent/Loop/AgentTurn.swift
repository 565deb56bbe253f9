// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

// MARK: - Slices

extension Agent {
  /// The time for slices in one turn, in milliseconds: a request waits no longer for many streams
  /// than for one.
  private static let sliceTime: UInt64 = 5

  /// Serves one slice of each stream whose client has taken the one before, as time allows.
  func advanceStreams() {
    guard connections.contains(where: { $0.phase.stream != nil }) else { return }
    let start = configuration.clock().monotonic
    for _ in 0..<connections.count {
      guard let connection = connections.nextInTurn(), let stream = connection.phase.stream,
        !connection.hasPending, stream.due <= start, hasRoom(connection)
      else { continue }
      advance(stream, of: connection)
      guard configuration.clock().monotonic - start < Self.sliceTime else { return }
    }
  }

  /// Whether the next slice can be sent; the loop tells when it can.
  private func hasRoom(_ connection: Connection) -> Bool {
    if connection.waitsForRoom { return false }
    if connection.hasRoom {
      connection.stallDeadline = nil
      return true
    }
    connection.waitsForRoom = true
    connection.stallDeadline = configuration.clock().monotonic + configuration.limits.stall
    flush(connection)
    return false
  }

  private func advance(_ stream: any Stream, of connection: Connection) {
    lockDue()
    guard connection.phase.stream === stream else { return }
    let written = connection.outbox.frames.count
    do throws(Refusal) {
      let hasMore = try work(on: stream.session) { vault throws(VaultError) in
        try stream.advance(&connection.outbox, in: &vault)
      }
      if stream.isUse { noteUse(of: stream.session) }
      if stream.isChange { noteChange(of: stream.session) }
      if !hasMore {
        stream.end(in: self, for: connection)
        connection.phase = .ready
      }
    } catch {
      // A lock that came of it has answered already.
      guard connection.phase.stream === stream else { return }
      connection.outbox.frames.removeLast(connection.outbox.frames.count - written)
      refuse(connection, error, as: .end)
      connection.meeting = nil
      connection.phase = .ready
    }
    pump(connection)
  }

  /// Notes the newest state beside a vault that changed, and sweeps what nothing refers to.
  func maintain() {
    for session in sessions {
      writeLogIfDue(of: session)
      guard let deadline = session.upkeepDeadline else { continue }
      let now = configuration.clock().monotonic
      guard now >= deadline else { continue }
      session.upkeepDeadline = nil
      keepUp(session, at: now)
    }
  }

  private func keepUp(_ session: Session, at now: UInt64) {
    if session.mustTrim {
      session.mustTrim = false
      kura_memory_trim()
    }
    do throws(Refusal) {
      let hasMore = try work(on: session) { vault throws(VaultError) in
        try vault.flushSeen()
        return try vault.sweep()
      }
      // Who waits for a value goes before what nobody waits for.
      if hasMore { session.upkeepDeadline = isMovingValue(of: session) ? now + upkeep : now }
    } catch {
      guard session.isUnlocked, error.isWorthAnotherTry else { return }
      session.upkeepDeadline = now + upkeep
    }
  }

  private var upkeep: UInt64 { configuration.limits.upkeep }

  /// Whether a large value of a vault is on its way, in or out.
  func isMovingValue(of session: Session) -> Bool {
    connections.contains { connection in
      connection.phase.session === session
        && (connection.phase.upload != nil || connection.phase.stream?.isLongValue == true)
    }
  }
}

// MARK: - Deadlines

extension Agent {
  /// How long the loop may wait, in milliseconds; negative: for ever.
  func timeout(_ most: Int64) -> Int64 {
    guard let next = nextDeadline() else { return most }
    let now = configuration.clock().monotonic
    let left = Int64(clamping: next > now ? next - now : 0)
    return most < 0 ? left : min(most, left)
  }

  /// The earliest of all deadlines on the monotonic clock; 0 when there is a slice to serve.
  private func nextDeadline() -> UInt64? {
    var next = min(queueDeadline ?? .max, promptDeadline)
    for session in sessions { next = min(next, deadline(of: session)) }
    for connection in connections { next = min(next, deadline(of: connection)) }
    return next == .max ? nil : next
  }

  private func deadline(of session: Session) -> UInt64 {
    let upkeep = min(session.upkeepDeadline ?? .max, session.logDeadline ?? .max)
    return session.isRotating ? min(upkeep, session.rotation.deadline) : upkeep
  }

  private func deadline(of connection: Connection) -> UInt64 {
    var next = min(connection.frameDeadline ?? .max, connection.stallDeadline ?? .max)
    if connection.busyDeadline != nil { next = min(next, nextRetry) }
    let isHeldUp =
      connection.phase.stream != nil && (connection.hasPending || connection.waitsForRoom)
    if let deadline = connection.phase.deadline, !isHeldUp { next = min(next, deadline) }
    return next
  }

  /// When requests that found a vault busy are served again.
  private var nextRetry: UInt64 { configuration.clock().monotonic + configuration.limits.retry }

  func expireDeadlines() {
    let now = configuration.clock().monotonic
    if let deadline = queueDeadline, now >= deadline { refuseQueue() }
    expirePrompts()
    for connection in connections { expire(connection, at: now) }
  }

  private func expire(_ connection: Connection, at now: UInt64) {
    if let deadline = connection.stallDeadline, now >= deadline { return close(connection) }
    if let deadline = connection.frameDeadline, now >= deadline, connection.isReading {
      return close(connection)
    }
    if connection.busyDeadline != nil { retry(connection) }
    guard now >= connection.phase.deadline ?? .max else { return }
    if case .awaitingUnlock = connection.phase { giveUp(connection) }
    if case .awaitingClosings(let wait) = connection.phase { answer(wait, connection) }
    if let wait = connection.phase.masks { giveUp(wait, connection) }
    if case .awaitingOwner = connection.phase { giveUpWish(connection) }
    if case .awaitingWishes = connection.phase { endWatch(connection) }
    if case .awaitingFinger(let scan) = connection.phase { giveUp(scan, connection) }
  }

  /// Serves a frame again that found its vault busy, or finishes an attempt that did.
  func retry(_ connection: Connection) {
    guard mayTry(connection) else { return }
    lockDue()
    // One that waits for its client's word has a frame to be served again.
    if case .attempting(let attempt) = connection.phase {
      return performAgain(attempt, for: connection)
    }
    guard let frame = try? connection.inbox.nextFrame(), serve(frame, on: connection) else {
      return
    }
    connection.inbox.drop(frame)
    pump(connection)
  }

  /// Nobody unlocked the vault in time.
  private func giveUp(_ connection: Connection) {
    connection.phase = .ready
    do throws(Refusal) { refuse(connection, try lockedRefusal(connection)) } catch {
      refuse(connection, error)
    }
    pump(connection)
  }

  /// Sets the timer on the earliest moment at which keys must be wiped.
  ///
  /// A deadline that moves away is not set anew: the timer fires early once, and is set then.
  func arm() throws(AgentError) {
    var next = UInt64.max
    for session in sessions { next = min(next, session.state.nextDeadline ?? .max) }
    next = min(next, nextGrantDeadline ?? .max)
    if mayHoldKeys { next = min(next, nextWordDeadline ?? .max) }
    guard next < armed ?? .max else { return }
    armed = next
    try check("timerfd_settime", kura_timer_set(deadlineTimer.raw, next))
  }

  /// The timer fired; ``arm()`` sets it again.
  func disarm() {
    kura_descriptor_drain(deadlineTimer.raw)
    armed = nil
  }

  /// The end of a turn: lets go of what ended, and has what was locked closed.
  func settle() {
    while let connection = resumed.popLast() { pump(connection) }
    letGoOfReplies()
    letGoOfRequests()
    // Before anything waits for a disk: the work of a client that ended may hold keys, and the file open.
    ended.removeAll(keepingCapacity: true)
    beginClosings()
  }
}
