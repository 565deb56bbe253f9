// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs of who asks the owner, and of who has the owner asked.
extension Agent {
  /// Has the owner asked, wherever somebody waits for that, and the client wait for the answer.
  func wish(_ request: WishRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let now = configuration.clock().monotonic
    let (link, mayLast) = try wishedRoot(request, connection)
    var wanted = 0
    try request.names.forEach { name throws(Refusal) in
      guard try item(name, connection).isProtected else { return }
      wanted += 1
      let wait = session.wishes.quiet(name.bytes, of: link, at: now)
      guard wait == 0 else {
        noteEntry(
          .wish, code: Failure.cancelled.rawValue, name: name.bytes, of: session, by: connection)
        throw .cancelled(lasting: wait)
      }
    }
    guard wanted > 0 else {
      return try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
    }
    let tree = ProcessTree(process: link.process, start: link.start)
    if request.flags.contains(.ifAwaited), !isAwaited(outside: tree, of: session) {
      throw .protected(.none)
    }
    guard hasRoomToWait else { throw .tooBusy }
    try join(request, link, mayLast: mayLast, wanted, session, connection)
    let (deadline, overflow) = now.addingReportingOverflow(request.patience)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putProgress(done: 0, total: 0)
    }
    connection.phase = .awaitingOwner(
      WishWait(session: session, deadline: overflow ? .max : deadline))
    tellWishes(of: session)
  }

  /// The process that it is for; who asks itself where that would be all of a login, for this once alone.
  private func wishedRoot(
    _ request: WishRequest, _ connection: Connection
  ) throws(Refusal) -> (ProcessLink, mayLast: Bool) {
    // What is for this once goes to who asks: nobody joins what other programs ask by naming their process.
    guard request.scope != .process || request.lifetime != WishRequest.ownersChoice else {
      throw .malformed
    }
    do throws(Refusal) {
      return (try root(of: request.scope, request.process, for: connection), true)
    } catch {
      guard request.scope == .program, request.lifetime == WishRequest.ownersChoice,
        error.failure == .processUnfit
      else { throw error }
    }
    return (try root(of: .client, 0, for: connection), false)
  }

  private func join(
    _ request: WishRequest, _ link: ProcessLink, mayLast: Bool, _ wanted: Int, _ session: Session,
    _ connection: Connection
  ) throws(Refusal) {
    let words = request.reason.bytes
    let uses = request.uses == GrantRequest.anyUses ? nil : request.uses
    let wish = try session.wishes.open(
      below: link, mayLast: mayLast, Wish.Terms(lifetime: request.lifetime, uses: uses), wanted,
      chain(of: connection)?.words ?? [], words.indices.map { words[$0] },
      at: configuration.clock())
    var names: [Wish.Name] = []
    try request.names.forEach { name throws(Refusal) in
      guard try item(name, connection).isProtected else { return }
      names.append(try wish.name(name.bytes))
      noteEntry(.wish, name: name.bytes, other: words, of: session, by: connection)
    }
    wish.join(connection, names)
    session.wishes.change()
  }

  /// Whether somebody waits to be asked who is not one of the programs that ask.
  private func isAwaited(outside tree: ProcessTree, of session: Session) -> Bool {
    connections.contains { connection in
      guard case .awaitingWishes(let watch) = connection.phase, watch.session === session else {
        return connection.approves === session && !isWithin(connection, tree)
      }
      return watch.chain?.isWithin(tree) != true
    }
  }

  private func isWithin(_ connection: Connection, _ tree: ProcessTree) -> Bool {
    chain(of: connection)?.isWithin(tree) ?? false
  }

  /// Tells what the owner is asked for.
  func wishes(_ request: WishesRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    connection.approves = session
    let now = configuration.clock().monotonic
    guard request.seen == session.wishes.state, request.patience > 0 else {
      return try tellWishes(of: session, to: connection)
    }
    guard hasRoomToWait else { throw .tooBusy }
    let (deadline, overflow) = now.addingReportingOverflow(request.patience)
    connection.phase = .awaitingWishes(
      WishWatch(
        session: session, seen: request.seen, deadline: overflow ? .max : deadline,
        chain: chain(of: connection)))
  }

  /// Tells those who wait to be asked.
  private func tellWishes(of session: Session) {
    for connection in connections {
      guard case .awaitingWishes(let watch) = connection.phase, watch.session === session,
        watch.seen != session.wishes.state
      else { continue }
      endWatch(connection)
    }
  }

  /// Answers who waits to be asked.
  func endWatch(_ connection: Connection) {
    guard case .awaitingWishes(let watch) = connection.phase else { return }
    connection.phase = .ready
    do throws(Refusal) { try tellWishes(of: watch.session, to: connection) } catch {
      refuse(connection, error)
    }
    resumed.append(connection)
  }

  private func tellWishes(of session: Session, to connection: Connection) throws(Refusal) {
    try wire { () throws(ProtocolError) in
      var list = try SecretBuffer.begun()
      for wish in session.wishes.all {
        let entry = try told(wish)
        try list.put32(entry.bytes)
      }
      try connection.outbox.frames.putReply(
        WishesReply(list.bytes, count: session.wishes.all.count, state: session.wishes.state))
    }
  }

  /// A wish as it is told now.
  fileprivate func told(_ wish: Wish) throws(ProtocolError) -> SecretBuffer {
    var names = try SecretBuffer.begun()
    for name in wish.names { try names.put16(name.bytes) }
    let (program, chain, reason) = (wish.link.name, wish.chain, wish.reason)
    let fields = KeyFields(names.bytes, count: wish.names.count)
    var entry = WishEntry(
      fields, program: program.span, chain: chain.span, reason: reason.span)
    (entry.number, entry.process, entry.mayLast) = (wish.number, wish.link.process, wish.mayLast)
    entry.started = wish.started
    entry.lifetime = wish.terms.lifetime
    entry.uses = wish.terms.uses ?? GrantRequest.anyUses
    var buffer = try SecretBuffer.begun()
    try entry.code(&buffer)
    return buffer
  }
}

extension SecretBuffer {
  fileprivate mutating func put16(_ name: borrowing SecretBytes) throws(ProtocolError) {
    try put16(name.bytes)
  }
}

// MARK: - Answers

extension Agent {
  /// Has the passcode proved for what was shown.
  func approve(_ request: ApproveRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    _ = try wish(as: request.shown.bytes, request.term, in: session)
    let act = WishAct(try secret(request.shown.bytes), request.term, session)
    try begin(
      act, by: request.authority.credential, request.authority.secret.bytes, codes: .taken,
      at: try openForAttempt(connection), of: session, for: connection)
  }

  /// The wish that was shown, if it is still that and can be answered so.
  fileprivate func wish(
    as shown: Span<UInt8>, _ term: ApprovedTerm, in session: Session
  ) throws(Refusal) -> Wish {
    for wish in session.wishes.all {
      guard try wire({ () throws(ProtocolError) in try isTold(wish, as: shown) }) else { continue }
      let isChosen = wish.terms.lifetime == WishRequest.ownersChoice
      guard isChosen == (term != .asked), wish.mayLast || term == .once else { throw .malformed }
      return wish
    }
    throw .changedMeanwhile
  }

  private func isTold(_ wish: Wish, as shown: Span<UInt8>) throws(ProtocolError) -> Bool {
    let entry = try told(wish)
    let bytes = entry.bytes
    guard bytes.count == shown.count else { return false }
    return !bytes.indices.contains { bytes[$0] != shown[$0] }
  }

  fileprivate func approve(
    _ shown: Span<UInt8>, _ term: ApprovedTerm, by key: borrowing VaultKey?, on session: Session,
    for client: Connection
  ) throws(Refusal) -> GrantReply {
    let wish = try wish(as: shown, term, in: session)
    let items = try opened(wish, by: key, on: session)
    var grant: StandingGrant?
    if term == .once {
      give(items, of: wish, on: session)
    } else {
      let terms = try terms(lasting: wish.lifetime(term), wish.terms.uses, wish.reason)
      grant = try add(items, below: try GrantRoot(wish.link, configuration), terms, to: session)
    }
    for item in items {
      note(.approve, item.name, grant?.number ?? 0, wish.reason, in: session, by: client)
    }
    answer(wish, of: session)
    return GrantReply([], number: grant?.number ?? 0, granted: UInt16(items.count))
  }

  private func opened(
    _ wish: Wish, by key: borrowing VaultKey?, on session: Session
  ) throws(Refusal) -> [StandingGrant.Item] {
    let half = try half(by: key, on: session)
    var items: [StandingGrant.Item] = []
    for name in wish.names {
      if let item = try granted(name.bytes, by: half, on: session) { items.append(item) }
    }
    return items
  }

  private func granted(
    _ name: borrowing SecretBytes, by half: borrowing ProtectedKey?, on session: Session
  ) throws(Refusal) -> StandingGrant.Item? {
    try granted(Field(name.bytes), by: half, on: session)
  }

  /// Lets each who asks read what it asked for, on its connection.
  private func give(_ items: [StandingGrant.Item], of wish: Wish, on session: Session) {
    for asker in wish.askers {
      let bodies = items.filter { item in
        asker.names.contains { item.name.isEqual(to: $0.bytes) }
      }
      asker.connection?.grant = Grant(
        ProtectedKey(of: bodies.map(\.body)), of: session, since: configuration.clock().boot)
    }
  }

  private func answer(_ wish: Wish, of session: Session, _ refusal: Refusal? = nil) {
    session.wishes.close(wish)
    for connection in wish.askers.compactMap(\.connection) {
      guard case .awaitingOwner = connection.phase else { continue }
      connection.phase = .ready
      if let refusal {
        refuse(connection, refusal)
      } else {
        try? connection.outbox.frames.putReply()
      }
      resumed.append(connection)
    }
    tellWishes(of: session)
  }

  /// Refuses what was asked for, and has it not asked for again at once.
  func decline(_ request: DeclineRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard let wish = session.wishes.wish(request.number) else { throw .changedMeanwhile }
    session.wishes.decline(wish, at: configuration.clock().monotonic)
    for name in wish.names {
      note(.decline, name.bytes, 0, wish.reason, in: session, by: connection)
    }
    answer(wish, of: session, .cancelled(lasting: WishDesk.quiet))
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
  }

  /// Lets a client go that waits for the owner no longer.
  func leaveWish(_ connection: Connection) {
    guard case .awaitingOwner(let wait) = connection.phase else { return }
    if wait.session.wishes.leave(connection) { tellWishes(of: wait.session) }
  }

  private func noteUnanswered(_ connection: Connection) {
    guard case .awaitingOwner(let wait) = connection.phase else { return }
    for name in wait.session.wishes.names(of: connection) {
      note(
        .wish, name.bytes, 0, [], code: Failure.protected.rawValue, in: wait.session,
        by: connection)
    }
  }

  /// Nobody has answered in time.
  func giveUpWish(_ connection: Connection) {
    noteUnanswered(connection)
    leaveWish(connection)
    connection.phase = .ready
    refuse(connection, .protected(.none))
    resumed.append(connection)
  }
}

extension Wish {
  /// For how long an approval is, in ms.
  fileprivate func lifetime(_ term: ApprovedTerm) -> UInt64 {
    term.lifetime ?? terms.lifetime
  }
}

/// Gives what was asked for, once a passcode is proved.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class WishAct: Act, @unchecked Sendable {
  private let session: Session
  private let shown: SecretBytes
  private let term: ApprovedTerm
  /// Kept while the vault is busy; it goes with the act.
  private var key: VaultKey?

  init(_ shown: consuming SecretBytes, _ term: ApprovedTerm, _ session: Session) {
    self.shown = shown
    self.term = term
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    key = try job.prove(secret)
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked else { throw session.lockedRefusal() }
    let reply = try approve(shown, in: agent, for: client)
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(
        GrantReply(attempt.notices, number: reply.number, granted: reply.granted))
    }
  }

  private func approve(
    _ shown: borrowing SecretBytes, in agent: Agent, for client: Connection
  ) throws(Refusal) -> GrantReply {
    try agent.approve(shown.bytes, term, by: key, on: session, for: client)
  }
}

extension ProcessChain {
  /// What each process calls itself, with its number, from who asks up.
  fileprivate var words: [UInt8] {
    var words: [UInt8] = []
    for link in links.prefix(8) {
      if !words.isEmpty { words += Array(" < ".utf8) }
      words += link.name.prefix(64) + Array(" \(link.process)".utf8)
    }
    return words
  }
}
