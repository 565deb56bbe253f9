// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Grants what a proved passcode opens, and keeps of that what opens these values alone.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class GrantAct: Act, @unchecked Sendable {
  private let session: Session
  private var order: GrantOrder?
  /// Kept while the vault is busy; it goes with the act.
  private var key: VaultKey?

  init(_ order: GrantOrder, _ session: Session) {
    self.order = order
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    key = try job.prove(secret)
  }

  func forget() { order = nil }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked, let order else { throw session.lockedRefusal() }
    do throws(Refusal) {
      let grant = try agent.grant(order, by: key, on: session, for: client)
      try wire { () throws(ProtocolError) in
        try client.outbox.frames.putReply(
          GrantReply(
            attempt.notices, number: grant?.number ?? 0, granted: UInt16(grant?.items.count ?? 0)))
      }
    } catch {
      guard !error.isWorthAnotherTry else { throw error }
      try refuse(error, of: order.names.encoded, client)
    }
  }

  /// Names what the refusal is about: the frame that it stood in is gone.
  private func refuse(
    _ refusal: Refusal, of names: borrowing SecretBytes, _ client: Connection
  ) throws(Refusal) {
    let bytes = names.bytes
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putRefusal(refusal, of: bytes)
    }
  }
}

/// Keeps what a client asks to be granted, to outlive the request.
final class GrantOrder {
  let scope: GrantScope
  let process: UInt32
  let lifetime: UInt64
  let uses: UInt32?
  let reason: [UInt8]
  /// As they stood in the request.
  let names: KeptNames

  init(_ request: GrantRequest) throws(Refusal) {
    (scope, process, lifetime) = (request.scope, request.process, request.lifetime)
    uses = request.uses == GrantRequest.anyUses ? nil : request.uses
    let words = request.reason.bytes
    reason = words.indices.map { words[$0] }
    names = try KeptNames(request.names)
  }
}

// MARK: - Verbs

extension Agent {
  /// Has the passcode proved for a grant, once all else is found to be as it must be.
  func grant(_ request: GrantRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    _ = try root(of: request.scope, request.process, for: connection)
    expireGrants()
    guard session.grants.hasRoom(for: request.names.count) else { throw .tooBusy }
    try request.names.forEach { name throws(Refusal) in _ = try item(name, connection) }
    try begin(
      GrantAct(try GrantOrder(request), session), by: request.authority.credential,
      request.authority.secret.bytes, codes: .taken, at: try openForAttempt(connection),
      of: session, for: connection)
  }

  /// Tells what stands.
  func grants(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    expireGrants()
    let now = configuration.clock().boot
    try wire { () throws(ProtocolError) in
      var list = try SecretBuffer.begun()
      for grant in session.grants.all {
        let terms = grant.terms
        try list.put(grant.number, grant.root, grant.items, terms, program(of: grant.root), at: now)
      }
      let windows = session.windowsByProcess
      for all in windows {
        guard let last = all.max(by: { $0.since < $1.since }) else { continue }
        let end = last.since + session.reuseWindow
        let terms = StandingGrant.Terms(deadline: end, uses: nil, reason: [])
        let program = program(of: last.below.root)
        try list.put(0, last.below.root, all.map(\.item), terms, program, at: now)
      }
      try connection.outbox.frames.putReply(
        GrantsReply(list.bytes, count: session.grants.all.count + windows.count))
    }
  }

  /// What a process runs now: a run has become its command since.
  private func program(of root: borrowing GrantRoot) -> [UInt8] {
    configuration.processes(root.tree.process, .all)?.name ?? root.program
  }

  /// Ends what stands.
  func revokeGrant(_ request: GrantRevokeRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    expireGrants()
    let number = request.number == GrantRevokeRequest.all ? nil : request.number
    var count = endGrants(number, of: session, .revoked, by: connection)
    if number == nil {
      count += endWindows(of: session, by: connection) { _ in .revoked }
    }
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(GrantRevokeReply(UInt16(count)))
    }
  }
}

extension SecretBuffer {
  /// One without bytes, for a part of a message.
  static func begun() throws(ProtocolError) -> SecretBuffer {
    do throws(SecureMemoryError) { return try SecretBuffer(capacity: 256) } catch {
      throw .outOfMemory
    }
  }

  fileprivate mutating func put(
    _ number: UInt64, _ root: borrowing GrantRoot, _ items: [StandingGrant.Item],
    _ terms: StandingGrant.Terms, _ program: [UInt8], at now: UInt64
  ) throws(ProtocolError) {
    var names = try SecretBuffer.begun()
    for item in items { try names.put16(item.name.bytes) }
    let reason = terms.reason
    let fields = KeyFields(names.bytes, count: items.count)
    var entry = GrantEntry(fields, program: program.span, reason: reason.span)
    entry.number = number
    entry.process = root.tree.process
    entry.left = terms.deadline > now ? terms.deadline - now : 0
    entry.uses = terms.uses ?? GrantEntry.anyUses
    try entry.code(&self)
  }
}

// MARK: - What they do

extension Agent {
  /// - Returns: Nil where none of the items is protected.
  fileprivate func grant(
    _ order: GrantOrder, by key: borrowing VaultKey?, on session: Session, for client: Connection
  ) throws(Refusal) -> StandingGrant? {
    let link = try root(of: order.scope, order.process, for: client)
    let root = try GrantRoot(link, configuration)
    let items = try opened(order, by: key, on: session)
    guard !items.isEmpty else { return nil }
    let terms = try terms(lasting: order.lifetime, order.uses, order.reason)
    let grant = try add(items, below: root, terms, to: session)
    for item in items {
      note(.grant, item.name, grant.number, order.reason, in: session, by: client)
    }
    answerServed(in: session)
    return grant
  }

  /// What begins now.
  func terms(
    lasting lifetime: UInt64, _ uses: UInt32?, _ reason: [UInt8]
  ) throws(Refusal) -> StandingGrant.Terms {
    StandingGrant.Terms(
      deadline: configuration.clock().boot + lifetime, uses: uses, reason: reason)
  }

  /// Has a grant stand.
  func add(
    _ items: [StandingGrant.Item], below root: consuming GrantRoot, _ terms: StandingGrant.Terms,
    to session: Session
  ) throws(Refusal) -> StandingGrant {
    expireGrants()
    guard session.grants.hasRoom(for: items.count) else { throw .tooBusy }
    do throws(AgentError) { try poller.add(root.watched, for: .readable, as: .processEnd) } catch {
      throw .outOfMemory
    }
    let epoch = try work(on: session) { vault throws(VaultError) in vault.lastEpoch }
    return session.grants.add(below: root, terms, items, at: epoch)
  }

  /// Notes what became of an item that was asked for.
  ///
  /// - Parameter number: The grant's; 0 for none.
  func note(
    _ verb: Verb, _ name: borrowing SecretBytes, _ number: UInt64, _ reason: [UInt8],
    code: UInt16 = 0, in session: Session, by client: Connection
  ) {
    noteEntry(
      verb, code: code, detail: number, name: name.bytes, other: reason.span, of: session,
      by: client)
  }

  /// The keys of each item; the half that opens all of them is gone when this returns.
  private func opened(
    _ order: GrantOrder, by key: borrowing VaultKey?, on session: Session
  ) throws(Refusal) -> [StandingGrant.Item] {
    let half = try half(by: key, on: session)
    var items: [StandingGrant.Item] = []
    try order.names.forEach { name throws(Refusal) in
      if let item = try granted(name, by: half, on: session) { items.append(item) }
    }
    return items
  }

  /// What opens all protected values, for as long as it takes to open some.
  func half(
    by key: borrowing VaultKey?, on session: Session
  ) throws(Refusal) -> ProtectedKey? {
    try work(on: session) { vault throws(VaultError) in
      switch key {
      case .none: throw .ownerNeeded
      case .some(let key): return try vault.protectedKey(from: key)
      }
    }
  }

  /// The keys of an item; nil where it is not protected.
  func granted(
    _ name: borrowing Field, by half: borrowing ProtectedKey?, on session: Session
  ) throws(Refusal) -> StandingGrant.Item? {
    let bytes = name.bytes
    let body = try work(on: session, item: name.place) { vault throws(VaultError) in
      try vault.bodyKey(bytes, from: half)
    }
    guard let body else { return nil }
    return StandingGrant.Item(body, try secret(bytes))
  }

  /// Reads by what was granted to what a client belongs to.
  ///
  /// - Parameter error: What to refuse where that is not enough.
  func openingByGrants<Result: ~Copyable>(
    _ connection: Connection, on session: Session, _ error: Refusal,
    _ body: (Grant?) throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    let roots = session.grants.all.map { $0.root.tree }
    guard !roots.isEmpty, let chain = chain(of: connection, upTo: roots) else { throw error }
    for grant in session.grants.serving(chain) {
      let opened = OpenedSeals()
      let key = Grant(grant.key(counting: opened), of: session, since: 0)
      do throws(Refusal) {
        let result = try body(key)
        guard grant.count(opened) else { continue }
        connection.usedGrant = grant.number
        return result
      } catch {
        guard error.failure == .protected else { throw error }
      }
    }
    throw error
  }

  /// Lets go of what is not granted any more.
  func expireStanding(in session: Session, at now: UInt64) {
    guard session.isUnlocked, !session.grants.isEmpty else { return }
    var ended = session.grants.expire(at: now)
    var hasChanged = false
    // What cannot be looked at is no longer granted.
    let epoch = try? session.withVault { vault throws(VaultError) in vault.lastEpoch }
    if session.grants.check(at: epoch ?? 0, { isCurrent($0.body, of: $0.name, in: session) }) {
      ended += session.grants.expire(at: now)
      hasChanged = true
    }
    // Where the keys were made and used, copies of them may be left.
    if hasChanged || !ended.isEmpty { kura_stack_wipe() }
    for (number, cause) in ended { noteEnd(of: number, cause, in: session, by: nil) }
  }

  private func isCurrent(
    _ body: BodyKey, of name: borrowing SecretBytes, in session: Session
  ) -> Bool {
    let bytes = name.bytes
    let isCurrent = try? session.withVault { vault throws(VaultError) in
      try vault.isCurrent(body, of: bytes)
    }
    return isCurrent ?? false
  }

  /// Lets go of a grant, or of all.
  ///
  /// - Returns: How many there were.
  @discardableResult
  func endGrants(
    _ number: UInt64? = nil, of session: Session, _ cause: GrantEnd, by client: Connection? = nil
  ) -> Int {
    let ended = session.grants.end(number)
    if !ended.isEmpty { kura_stack_wipe() }
    for number in ended { noteEnd(of: number, cause, in: session, by: client) }
    return ended.count
  }

  private func noteEnd(
    of number: UInt64, _ cause: GrantEnd, in session: Session, by client: Connection?
  ) {
    noteSoon(.grantRevoke, detail: cause.logDetail(number), of: session, by: client)
  }

  /// Has grants follow an item that has another name.
  func follow(_ new: Span<UInt8>, in session: Session) {
    for item in session.grants.all.flatMap(\.items) + session.windows.map(\.item) {
      let isIt = try? session.withVault { vault throws(VaultError) in
        try vault.isCurrent(item.body, of: new)
      }
      if isIt == true, let name = try? secret(new) { item.rename(name) }
    }
  }
}
