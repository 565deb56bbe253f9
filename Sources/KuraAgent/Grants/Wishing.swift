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
    guard let chain = chain(of: connection) else {
      throw .processGone(UInt32(clamping: connection.process))
    }
    let place = WishPlace(link, chain)
    // Where nobody answers for the owner, a no from there is none to who asks him itself.
    let isBound = request.flags.contains(.ifAwaited)
    let isHere = request.flags.contains(.here)
    guard !isBound || isAwaited(at: place, of: session), !isHere || place.terminal != 0 else {
      throw .protected(.none)
    }
    let names = try wished(request, chain, session, connection, at: now)
    guard !names.isEmpty else {
      return try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
    }
    guard hasRoomToWait else { throw .tooBusy }
    let words = request.reason.bytes
    let uses = request.uses == GrantRequest.anyUses ? nil : request.uses
    let asker = Wish.Asker(
      connection: connection, place: place, chain: chain.words,
      reason: words.indices.map { words[$0] })
    try session.wishes.join(
      asker, names, below: link, mayLast: mayLast,
      Wish.Terms(
        lifetime: request.lifetime, uses: uses, terminal: isHere ? place.terminal : nil),
      at: configuration.clock())
    for name in names { note(.wish, name.bytes, 0, asker.reason, in: session, by: connection) }
    let patience = isBound ? min(request.patience, WishWait.bound) : request.patience
    let (deadline, overflow) = now.addingReportingOverflow(patience)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putProgress(done: 0, total: 0)
    }
    connection.phase = .awaitingOwner(
      WishWait(
        session: session, deadline: overflow ? .max : deadline, place: isBound ? place : nil,
        look: isBound ? now &+ WishWatch.pause : .max))
    tellWishes(of: session)
  }

  /// The names that take their owner, as they stand in the vault.
  private func wished(
    _ request: WishRequest, _ chain: ProcessChain, _ session: Session, _ connection: Connection,
    at now: UInt64
  ) throws(Refusal) -> [Wish.Name] {
    expireGrants()
    var names: [Wish.Name] = []
    try request.names.forEach { name throws(Refusal) in
      let item = try item(name, connection)
      guard item.isProtected else { return }
      let wait = session.wishes.quiet(
        item.name, of: chain, isHere: request.flags.contains(.here), at: now)
      guard wait == 0 else {
        noteEntry(
          .wish, code: Failure.cancelled.rawValue, name: item.name, of: session, by: connection)
        throw .cancelled(lasting: wait)
      }
      // It would be shown on so many lines that others are not seen.
      guard item.name.count <= Wish.longestName else { throw .protected(.field(name.place)) }
      let name = Wish.Name(try secret(item.name))
      // It may have been let read it since it was refused that.
      guard
        request.lifetime != WishRequest.ownersChoice
          || !session.grants.serves(name.bytes, { chain.isWithin($0) })
      else { return }
      names.append(name)
    }
    return names
  }

  /// The process that it is for; who asks itself where that would be all of a login, for this once alone.
  private func wishedRoot(
    _ request: WishRequest, _ connection: Connection
  ) throws(Refusal) -> (ProcessLink, mayLast: Bool) {
    do throws(Refusal) {
      return (try root(of: request.scope, request.process, for: connection), true)
    } catch {
      guard request.scope == .program, request.lifetime == WishRequest.ownersChoice,
        error.failure == .processUnfit
      else { throw error }
    }
    return (try root(of: .client, 0, for: connection), false)
  }

  /// Whether somebody waits to be asked who may answer who asks there, or answers something just now.
  func isAwaited(at place: WishPlace, of session: Session) -> Bool {
    let now = configuration.clock().monotonic
    return connections.contains { connection in
      if case .attempting(let attempt) = connection.phase, attempt.verb == .approve {
        guard attempt.session === session, let chain = chain(of: connection) else { return false }
        return place.admits(chain) && !session.wishes.all.contains { $0.isHere && $0.admits(chain) }
      }
      guard !configuration.isStopped(UInt32(clamping: connection.process)) else { return false }
      let watch: WishWatch
      if case .awaitingWishes(let own) = connection.phase {
        watch = own
      } else {
        guard let last = connection.lastWatch, last.deadline > now else { return false }
        watch = last
      }
      return watch.session === session && !watch.flags.contains(.own)
        && place.admits(chain(of: connection))
    }
  }

  /// Tells what the owner is asked for.
  func wishes(_ request: WishesRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let now = configuration.clock().monotonic
    if request.flags.contains(.closing), let chain = chain(of: connection) {
      for wish in session.wishes.all where wish.isHere && wish.admits(chain) {
        wish.isClosed = true
      }
    }
    guard request.seen == session.wishes.state, request.patience > 0 else {
      return try tellWishes(request.flags, of: session, to: connection)
    }
    guard hasRoomToWait else { throw .tooBusy }
    let (deadline, overflow) = now.addingReportingOverflow(request.patience)
    connection.phase = .awaitingWishes(
      WishWatch(
        session: session, flags: request.flags, seen: request.seen,
        deadline: overflow ? .max : deadline))
  }

  /// Tells those who wait to be asked.
  func tellWishes(of session: Session) {
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
    // Who is told of something waits again in a moment.
    connection.lastWatch = WishWatch(
      session: watch.session, flags: watch.flags, seen: watch.seen,
      deadline: configuration.clock().monotonic &+ WishWatch.pause)
    do throws(Refusal) {
      try tellWishes(watch.flags, of: watch.session, to: connection)
    } catch {
      refuse(connection, error)
    }
    resumed.append(connection)
  }

  private func tellWishes(
    _ flags: WishesRequest.Flags, of session: Session, to connection: Connection
  ) throws(Refusal) {
    let chain = chain(of: connection)
    let all = session.wishes.all.filter { $0.isHere == flags.contains(.own) }
    let told = all.filter { $0.admits(chain) }
    try wire { () throws(ProtocolError) in
      var list = try SecretBuffer.begun()
      for wish in told {
        let entry = try self.told(wish)
        try list.put32(entry.bytes)
      }
      try connection.outbox.frames.putReply(
        WishesReply(
          list.bytes, count: told.count,
          untold: flags.contains(.own) ? 0 : UInt16(all.count - told.count),
          state: session.wishes.state))
    }
  }

  /// A wish as it is told now.
  func told(_ wish: Wish) throws(ProtocolError) -> SecretBuffer {
    var names = try SecretBuffer.begun()
    for name in wish.names { try names.put16(name.bytes) }
    var askers = try SecretBuffer.begun()
    for asker in wish.askers {
      try WishAskers.put(chain: asker.chain.span, reason: asker.reason.span, into: &askers)
    }
    let program = wish.link.plainName
    var entry = WishEntry(
      KeyFields(names.bytes, count: wish.names.count), program: program.span,
      askers: WishAskers(askers.bytes, count: wish.askers.count))
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
