// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

// MARK: - Frames

extension Agent {
  /// Serves one frame.
  ///
  /// - Returns: Whether the frame is done with; false: it is to be served again, because the
  ///   vault is busy.
  func serve(_ frame: Frame, on connection: Connection) -> Bool {
    // Before anything is served, so that a machine that wakes up locks first.
    lockDue()
    let session = connection.phase.session
    let wasUnlocked = session?.isUnlocked == true
    let written = connection.outbox.frames.count
    do throws(Refusal) {
      try dispatch(
        frame.type, connection.inbox.bytes.extracting(frame.payload), on: connection)
      try keepBack(connection, from: written)
    } catch {
      dropWait(of: connection)
      // A lock that came of it has answered already.
      if wasUnlocked, session?.isUnlocked == false {
        if frame.type == .clientEnd, !connection.isClosed { connection.phase = .ready }
        return true
      }
      connection.outbox.frames.removeLast(connection.outbox.frames.count - written)
      if error.isWorthAnotherTry, postpone(connection) { return false }
      deny(error, frame, on: connection)
    }
    connection.busyDeadline = nil
    connection.waitsForSeat = false
    return true
  }

  private func dispatch(
    _ type: FrameType, _ payload: Span<UInt8>, on connection: Connection
  ) throws(Refusal) {
    switch (connection.phase, type) {
    case (.greeting, .clientHello): try greet(payload, connection)
    case (.ready, .request): try serve(payload, connection)
    case (.uploading(let upload), .clientData): try append(payload, to: upload, connection)
    case (.uploading(let upload), .clientEnd):
      try checkThere(connection)
      try end(upload, payload, connection)
    case (.draining, .clientData): break
    case (.draining, .clientEnd): connection.phase = .ready
    case (.confirming(let attempt, _), .confirm):
      try checkThere(connection)
      try confirm(attempt, of: connection)
    case (.masking, .clientData): try hear(ofNeedle: payload, connection)
    case (.ready, .clientData) where connection.prompting != nil || connection.mayCrossEnd:
      try hear(payload, connection)
    default: throw .malformed
    }
  }

  /// Answers a hello; the requests that follow are about the vault it names.
  private func greet(_ payload: Span<UInt8>, _ connection: Connection) throws(Refusal) {
    let hello = try wire { () throws(ProtocolError) in try Hello(payload) }
    let vault = path(payload.extracting(hello.vault))
    if connection.room != nil, vault != connection.vaultPath {
      return end(connection, with: .confined(.otherVault))
    }
    connection.vaultPath = vault
    connection.isForeign = !ProtocolVersion.isSpoken(hello.version)
    connection.phase = .ready
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putHelloReply(release: Release.version)
    }
  }

  /// The path as a text, an unlocked vault's own where it is one; empty when it cannot be a path.
  private func path(_ bytes: Span<UInt8>) -> String {
    for session in sessions where session.isUnlocked && session.isAt(bytes) { return session.path }
    guard !bytes.indices.contains(where: { bytes[$0] == 0 }),
      let text = try? UTF8Span(validating: bytes)
    else { return "" }
    return String(copying: text)
  }

  private func deny(_ refusal: Refusal, _ frame: Frame, on connection: Connection) {
    connection.gathered = nil
    connection.meeting = nil
    if refusal == .malformed { return end(connection, with: refusal) }
    noteDenied(refusal, frame, connection)
    let hasRest = connection.phase.upload != nil && frame.type == .clientData
    connection.phase = hasRest ? .draining : .ready
    try? connection.inbox.refuse(refusal, frame, into: &connection.outbox)
  }

  /// Lets a frame wait for the vault's writer; false when it has waited long enough.
  func postpone(_ connection: Connection) -> Bool {
    let now = configuration.clock().monotonic
    guard let deadline = connection.busyDeadline else {
      connection.busyDeadline = now + configuration.limits.busy
      return true
    }
    return now < deadline
  }
}

// MARK: - Requests

extension Agent {
  private func serve(_ payload: Span<UInt8>, _ connection: Connection) throws(Refusal) {
    let request: Request
    do throws(ProtocolError) { request = try Request(payload) } catch {
      throw Refusal(message: error)
    }
    guard ending == nil else { throw .stopping }
    guard !connection.isForeign || mayServeForeign(request) else {
      throw .otherVersion(newest: ProtocolVersion.current)
    }
    guard connection.prompting == nil || request.verb.traits.contains(.mayBeAskedInTurn) else {
      throw .malformed
    }
    try checkPlace(of: connection, for: request)
    try takeSeat(connection, for: request.verb)
    connection.mayCrossEnd = connection.prompting != nil
    if request.verb.traits.contains(.diesWithClient) { try checkThere(connection) }
    connection.verb = request.verb
    connection.usedGrant = 0
    if request.verb != .putBatch { connection.gathered = nil }
    if request.verb != .syncGiven { connection.meeting = nil }
    let word = request.word
    if let credential = word.credential {
      return try vouch(credential, word.secret, in: payload, connection)
    }
    try serve(request, connection, by: nil)
    noteServed(request, connection)
  }

  /// Does nothing for a client that is gone: it has told its person that nothing was done. An
  /// agent that was stopped finds the requests of many such clients.
  private func checkThere(_ connection: Connection) throws(Refusal) {
    if connection.hasHungUp { throw .stopping }
  }

  /// A client of another version may end an agent that holds no keys, to start its own.
  private func mayServeForeign(_ request: borrowing Request) -> Bool {
    request.verb == .agentStop && !sessions.contains { $0.isUnlocked }
  }
}

// MARK: - Vaults

extension Agent {
  /// The session of the vault a client means; nil when it was never unlocked here.
  func session(of connection: Connection) throws(Refusal) -> Session? {
    let path = connection.vaultPath
    if let session = sessions.first(where: { $0.isUnlocked && $0.path == path }) { return session }
    let id = try identity(of: path)
    return sessions.first { $0.id == id }
  }

  /// The session of an unlocked vault.
  func unlocked(_ connection: Connection) throws(Refusal) -> Session {
    guard let session = try unlockedSession(of: connection) else {
      throw try lockedRefusal(connection)
    }
    return session
  }

  /// The session of a client's vault while that is unlocked; nil when it is locked. A file that was unlocked
  /// by another path may have come into another vault's place since.
  func unlockedSession(of connection: Connection) throws(Refusal) -> Session? {
    guard let session = try session(of: connection), session.isUnlocked else { return nil }
    let path = connection.vaultPath
    if session.path != path {
      try work(on: session, at: path) { vault throws(VaultError) in _ = try vault.checkPlace(path) }
    }
    return session
  }

  /// Why requests about a client's vault are refused.
  func lockedRefusal(_ connection: Connection) throws(Refusal) -> Refusal {
    let note = try lockNote(of: connection)
    return .locked(note)
  }

  /// Why and since when a client's vault is locked. Another file in the place of one that was
  /// locked for that has the reason of that one.
  func lockNote(of connection: Connection) throws(Refusal) -> LockNote {
    if let note = try session(of: connection)?.state.lockNote { return note }
    let path = connection.vaultPath
    let before = sessions.first { session in
      session.path == path && session.state.lockNote?.reason == .vaultChanged
    }
    return before?.state.lockNote ?? .neverUnlocked(since: began)
  }

  func identity(of path: String) throws(Refusal) -> FileID {
    guard !path.isEmpty else { throw .pathInvalid }
    do throws(VaultError) { return try FileID.of(path: path) } catch {
      throw Refusal(error, at: path)
    }
  }

  /// Works on an unlocked vault; one that turns out to be another than it was is locked.
  ///
  /// - Parameters:
  ///   - name: Where the item's name stands in the request.
  ///   - path: The file that errors are about, where that is not the vault's.
  func work<Result: ~Copyable>(
    on session: Session, item name: Range<Int>? = nil, at path: String? = nil,
    _ body: (inout UnlockedVault) throws(VaultError) -> Result
  ) throws(Refusal) -> Result {
    do throws(VaultError) { return try session.withVault(body) } catch {
      if error.isOfAnotherVault { lock(session, .vaultChanged) }
      if error == .replaced { throw session.lockedRefusal() }
      if error == .busy, session.isCompacting { throw .compacting }
      throw Refusal(error, at: path ?? session.path, item: name)
    }
  }

  /// Notes that a value was served or stored.
  func noteUse(of session: Session) { session.state.use(at: configuration.clock()) }

  /// Notes that the vault changed: within a second the newest state is kept beside it.
  func noteChange(of session: Session) {
    guard session.upkeepDeadline == nil else { return }
    session.upkeepDeadline = configuration.clock().monotonic + configuration.limits.upkeep
  }
}
