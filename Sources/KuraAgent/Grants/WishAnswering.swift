// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

extension Agent {
  /// Has the passcode proved for what was shown.
  func approve(_ request: ApproveRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let wish = try wish(as: request.shown.bytes, request.term, in: session, by: connection)
    let act = WishAct(wish, request.term, session)
    try begin(
      act, by: request.authority.credential, request.authority.secret.bytes, codes: .taken,
      at: try openForAttempt(connection), of: session, for: connection)
  }

  /// The wish that was shown, if it is that now, and can be answered so, there.
  fileprivate func wish(
    as shown: Span<UInt8>, _ term: ApprovedTerm, in session: Session, by client: Connection
  ) throws(Refusal) -> Wish {
    let chain = chain(of: client)
    for wish in session.wishes.all where wish.admits(chain) {
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

  /// - Returns: Nil where nobody's passcode gives what is asked for, and all were answered that.
  fileprivate func approve(
    _ wish: Wish, _ term: ApprovedTerm, by key: borrowing VaultKey?, on session: Session,
    for client: Connection
  ) throws(Refusal) -> GrantReply? {
    var last: Wish.Name?
    do throws(Refusal) {
      let items = try opened(wish, by: key, on: session, &last)
      return try give(items, of: wish, term, on: session, for: client)
    } catch {
      guard error.isOfWish else { throw error }
      answer(wish, of: session, error, about: last)
      refuse(client, error, about: last)
      return nil
    }
  }

  private func give(
    _ items: [StandingGrant.Item], of wish: Wish, _ term: ApprovedTerm, on session: Session,
    for client: Connection
  ) throws(Refusal) -> GrantReply {
    var grant: StandingGrant?
    if term == .once {
      give(items, of: wish, on: session)
    } else {
      let terms = try terms(
        lasting: wish.lifetime(term), wish.terms.uses, wish.reason(of: wish.names))
      grant = try add(items, below: try GrantRoot(wish.link, configuration), terms, to: session)
    }
    for item in items {
      let reason = wish.reason(of: wish.names.filter { $0.bytes.isEqual(to: item.name) })
      note(.approve, item.name, grant?.number ?? 0, reason, in: session, by: client)
    }
    answer(wish, of: session)
    answerServed(in: session)
    return GrantReply([], number: grant?.number ?? 0, granted: UInt16(items.count))
  }

  /// - Parameter last: Gets the name that was looked at last.
  private func opened(
    _ wish: Wish, by key: borrowing VaultKey?, on session: Session, _ last: inout Wish.Name?
  ) throws(Refusal) -> [StandingGrant.Item] {
    let half = try half(by: key, on: session)
    var items: [StandingGrant.Item] = []
    for name in wish.names {
      last = name
      if let item = try granted(name.bytes, by: half, on: session) { items.append(item) }
    }
    last = nil
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

  /// Answers those who ask for no more than what they are let read by now.
  func answerServed(in session: Session) {
    for wish in session.wishes.all where wish.isServed(by: session.grants) {
      answer(wish, of: session)
    }
  }

  private func answer(
    _ wish: Wish, of session: Session, _ refusal: Refusal? = nil, about name: Wish.Name? = nil
  ) {
    session.wishes.close(wish)
    for connection in wish.askers.compactMap(\.connection) {
      guard case .awaitingOwner = connection.phase else { continue }
      connection.phase = .ready
      if let refusal {
        refuse(connection, refusal, about: name)
      } else {
        try? connection.outbox.frames.putReply()
      }
      resumed.append(connection)
    }
    tellWishes(of: session)
  }

  private func refuse(_ connection: Connection, _ refusal: Refusal, about name: Wish.Name?) {
    guard let name else { return refuse(connection, refusal) }
    Self.refuse(connection, refusal, of: name.bytes)
  }

  private static func refuse(
    _ connection: Connection, _ refusal: Refusal, of name: borrowing SecretBytes
  ) {
    let bytes = name.bytes
    try? connection.outbox.frames.putRefusal(refusal, of: bytes)
  }

  /// Refuses what was asked for, and has it not asked for again at once.
  func decline(_ request: DeclineRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard let wish = session.wishes.wish(request.number), wish.admits(chain(of: connection)) else {
      throw .changedMeanwhile
    }
    session.wishes.decline(wish, at: configuration.clock().monotonic)
    for name in wish.names {
      note(.decline, name.bytes, 0, wish.reason(of: [name]), in: session, by: connection)
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

  /// Nobody has answered in time, or nobody answers any more: who asked asks elsewhere.
  func giveUpWish(_ connection: Connection) {
    guard case .awaitingOwner(var wait) = connection.phase else { return }
    let now = configuration.clock().monotonic
    if let place = wait.place, now < wait.deadline, isAwaited(at: place, of: wait.session) {
      wait.look = now &+ WishWatch.pause
      connection.phase = .awaitingOwner(wait)
      return
    }
    noteUnanswered(connection)
    leaveWish(connection)
    connection.phase = .ready
    refuse(connection, .protected(.none))
    resumed.append(connection)
  }
}

extension Wish {
  /// Why some names are asked for, in the words of the first who says it.
  fileprivate func reason(of names: [Name]) -> [UInt8] {
    let asker = askers.first { asker in
      !asker.reason.isEmpty && asker.names.contains { name in names.contains { $0 === name } }
    }
    return asker?.reason ?? []
  }

  /// Whether all that is asked for is granted to those who ask.
  fileprivate func isServed(by grants: GrantTable) -> Bool {
    terms.lifetime == WishRequest.ownersChoice
      && askers.allSatisfy { asker in
        asker.names.allSatisfy { name in
          grants.serves(name.bytes) { asker.place.isWithin($0) }
        }
      }
  }

  /// For how long an approval is, in ms.
  fileprivate func lifetime(_ term: ApprovedTerm) -> UInt64 {
    term.lifetime ?? terms.lifetime
  }
}

/// Gives what was asked for, once a passcode is proved.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class WishAct: Act, @unchecked Sendable {
  private let session: Session
  /// What was shown, as long as it is asked for: a lock leaves nothing of its names.
  private weak var wish: Wish?
  private let changes: Int
  private let term: ApprovedTerm
  /// Kept while the vault is busy; it goes with the act.
  private var key: VaultKey?

  init(_ wish: Wish, _ term: ApprovedTerm, _ session: Session) {
    (self.wish, changes) = (wish, wish.changes)
    self.term = term
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    key = try job.prove(secret)
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked else { throw session.lockedRefusal() }
    guard let wish, wish.changes == changes, session.wishes.wish(wish.number) === wish else {
      throw .changedMeanwhile
    }
    guard let reply = try agent.approve(wish, term, by: key, on: session, for: client) else {
      return
    }
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(
        GrantReply(attempt.notices, number: reply.number, granted: reply.granted))
    }
  }
}

extension Refusal {
  /// Whether what is asked for cannot be given any more, whatever the passcode.
  fileprivate var isOfWish: Bool {
    [Failure.notFound, .processGone, .processUnfit, .damaged].contains(failure)
  }
}
