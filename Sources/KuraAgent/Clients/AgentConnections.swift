// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraProtocol
internal import SecureMemory

// MARK: - Coming and going

extension Agent {
  /// Takes the next client in the place of the one that was silent longest, or lets it queue where
  /// none is silent.
  func accept() {
    guard let socket = listeningSocket else { return }
    guard connections.free != nil || dropSilent() else { return pauseAccepting() }
    var user: UInt32 = 0
    var process: Int32 = 0
    let result = unsafe kura_server_accept(socket, &user, &process)
    guard result < 0 else {
      // Its first words are mostly there, and what was heard is not dropped for the next one.
      if let connection = try? admit(Descriptor(owning: result), of: user, process) {
        serve(connection, .readable)
      }
      return
    }
    // No descriptor is left: the queue would be reported again and again.
    guard result == -EMFILE || result == -ENFILE || result == -ENOMEM else { return }
    if !dropSilent() { pauseAccepting() }
  }

  /// Gives a client its place; another user's is closed without a word.
  @discardableResult
  func admit(
    _ descriptor: consuming Descriptor, of user: UInt32, _ process: Int32
  ) throws(AgentError) -> Connection? {
    guard user == owner, let (place, tenant) = connections.free else { return nil }
    let connection = try Connection(descriptor, place: place, tenant: tenant)
    connection.process = process
    look(at: connection)
    try poller.add(connection.raw, for: .readable, as: connection.source)
    connection.frameDeadline = configuration.clock().monotonic + configuration.limits.frame
    noteHeard(connection)
    connections.take(place, for: connection)
    return connection
  }

  /// Ends a connection. Its buffers are wiped when nobody borrows them any more: ``settle()``.
  func close(_ connection: Connection) {
    guard !connection.isClosed else { return }
    connection.isClosed = true
    leavePrompt(connection)
    leaveMask(connection)
    leaveWish(connection)
    connection.phase = .closing
    connection.grant = nil
    connection.gathered = nil
    connection.meeting = nil
    connection.wait = nil
    abandonAttempts(of: connection)
    noteRest(of: connection)
    leaveSeat(connection)
    connections.leave(connection.place)
    ended.append(connection)
    if queueDeadline != nil { resumeAccepting() }
  }

  private var listeningSocket: Int32? { listener?.socket.raw ?? inherited?.raw }

  private func pauseAccepting() {
    guard queueDeadline == nil, let socket = listeningSocket else { return }
    queueDeadline = configuration.clock().monotonic + configuration.limits.queue
    try? poller.change(socket, to: [], as: .listener)
  }

  func resumeAccepting() {
    guard let socket = listeningSocket else { return }
    queueDeadline = nil
    try? poller.change(socket, to: .readable, as: .listener)
  }

  /// Tells those who queued long enough that all places stay taken.
  func refuseQueue() {
    guard let socket = listeningSocket else { return }
    var user: UInt32 = 0
    var process: Int32 = 0
    while case let result = unsafe kura_server_accept(socket, &user, &process), result >= 0 {
      refuse(Descriptor(owning: result))
    }
    resumeAccepting()
  }

  private func refuse(_ descriptor: consuming Descriptor) {
    guard let connection = try? Connection(descriptor, place: 0, tenant: 0) else { return }
    try? connection.outbox.frames.putHelloReply(release: Release.version)
    try? connection.outbox.frames.putRefusal(.busy)
    _ = connection.outbox.send()
  }
}

// MARK: - Readiness

extension Agent {
  /// Does what a client's socket is ready for.
  func serve(_ connection: Connection, _ ready: Readiness) {
    if ready.contains(.writable) { connection.waitsForRoom = false }
    // What was received is served first, after the events of others.
    if connection.isUnfinished { return }
    if ready.contains(.readable), connection.isReading {
      guard receive(connection) != .ended else { return close(connection) }
    } else if ready.contains(.hungUp) {
      // A request dies with its client, an unlock under way, too.
      return close(connection)
    }
    pump(connection)
  }

  /// Serves what was received and sends what came of it, as far as it goes without waiting: whole frames until a
  /// reply is worth sending or the turn's time is over. The first one leaves with the hello.
  func pump(_ connection: Connection) {
    guard !connection.isClosed else { return }
    repeat {
      do throws(ProtocolError) {
        while connection.isReading, !connection.isClosed,
          connection.outbox.frames.count < Self.worthSending,
          let frame = try connection.inbox.nextFrame()
        {
          connection.frameDeadline = nil
          let isFirst = connection.isGreeting
          guard serve(frame, on: connection) else { break }
          connection.inbox.drop(frame)
          guard isFirst || !connection.isWithinFrame || hasFrameTime else { break }
        }
      } catch { end(connection, with: Refusal(message: error)) }
      flush(connection)
    } while canGoOn(connection) && hasFrameTime
    dropWhatWaits(connection)
    noteRest(of: connection)
    noteFrame(connection)
    if connection.isIdle { leaveSeat(connection) }
  }

  /// What stands behind a request that may wait for ever, or on a connection that ends, may be a secret
  /// that nobody is going to use.
  private func dropWhatWaits(_ connection: Connection) {
    guard !connection.isClosed, connection.isWithinFrame else { return }
    if connection.phase.isEndless { end(connection, with: .malformed) }
    guard connection.isClosing else { return }
    connection.inbox.wipe()
    flush(connection)
  }

  private static let worthSending = 65_536

  /// Whether another frame could be served at once.
  private func canGoOn(_ connection: Connection) -> Bool {
    !connection.isClosed && !connection.hasPending && connection.isReading
      && (try? connection.inbox.nextFrame()) != nil
  }

  private func noteFrame(_ connection: Connection) {
    // A client that has replies to take is not read from: its time does not run.
    if connection.hasPending { connection.frameDeadline = nil }
    guard connection.isReading, connection.isWithinFrame, connection.frameDeadline == nil,
      !connection.hasPending, !connection.isUnfinished
    else { return }
    connection.frameDeadline = configuration.clock().monotonic + configuration.limits.frame
  }
}

// MARK: - Turns

extension Agent {
  /// The time for frames in one turn, in milliseconds. Each client that is ready has one served in
  /// any case, so that nobody waits for all that another one sent.
  private static let framesTime: UInt64 = 5

  private var hasFrameTime: Bool { configuration.clock().monotonic < frameTime }

  /// Begins the time for the frames of a turn.
  func beginFrames() { frameTime = configuration.clock().monotonic + Self.framesTime }

  /// Goes on with the frames that were left by the turn before, as time allows.
  func serveUnfinished(atMost count: Int) {
    for _ in 0..<count {
      guard let connection = unfinished.first else { return }
      unfinished.removeFirst()
      connection.isUnfinished = false
      pump(connection)
      guard hasFrameTime else { return }
    }
  }

  /// Notes whether a connection has frames left, which are served in the next turn.
  private func noteRest(of connection: Connection) {
    let isUnfinished = canGoOn(connection)
    if isUnfinished != connection.isUnfinished {
      connection.isUnfinished = isUnfinished
      if isUnfinished {
        unfinished.append(connection)
      } else {
        unfinished.removeAll { $0 === connection }
      }
    }
    if !connection.isClosed { watch(connection) }
  }
}

// MARK: - Sending

extension Agent {
  /// Sends what is pending and watches for what comes next.
  func flush(_ connection: Connection) {
    guard !connection.isClosed else { return }
    if connection.hasPending {
      let transfer = connection.outbox.send()
      if transfer == .ended { return close(connection) }
      if !connection.hasPending {
        connection.stallDeadline = nil
      } else if transfer == .some || connection.stallDeadline == nil {
        connection.stallDeadline = configuration.clock().monotonic + configuration.limits.stall
      }
    }
    if connection.isClosing, !connection.hasPending { return close(connection) }
    watch(connection)
  }

  /// A client that does not take its replies is not read from, either.
  private func watch(_ connection: Connection) {
    let mayRead = connection.isReading && !connection.hasPending && !connection.isUnfinished
    var interest: Readiness = mayRead ? .readable : []
    if connection.hasPending || connection.waitsForRoom { interest.insert(.writable) }
    guard interest != connection.interest else { return }
    connection.interest = interest
    try? poller.change(connection.raw, to: interest, as: connection.source)
  }

  /// Refuses and ends a connection that is of no further use.
  func end(_ connection: Connection, with refusal: Refusal) {
    refuse(connection, refusal)
    leavePrompt(connection)
    connection.phase = .closing
  }

  /// Writes a refusal of a request that is not at hand any more: no field of it is named.
  func refuse(_ connection: Connection, _ refusal: Refusal, as type: FrameType = .reply) {
    try? connection.outbox.frames.putRefusal(refusal, as: type)
  }
}
