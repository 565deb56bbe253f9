// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

/// Says for whom a grant is to be, and for how long.
public struct GrantTerms: Equatable, Sendable {
  /// Below which process it serves.
  public var scope: GrantScope
  /// The number of that process with `GrantScope.process`, else 0.
  public var process: UInt32
  /// In ms, `ProtocolLimit.grantTime` at most.
  public var lifetime: UInt64
  /// How many values it opens; nil for any number.
  public var uses: UInt32?
  /// Why, for people to read later; no secret. UTF-8.
  public var reason: [UInt8]

  /// A grant without an end of its own but that of the process, or of a day.
  public init(
    to scope: GrantScope, process: UInt32 = 0, lifetime: UInt64 = ProtocolLimit.grantTime,
    uses: UInt32? = nil, reason: [UInt8] = []
  ) {
    (self.scope, self.process, self.lifetime) = (scope, process, lifetime)
    (self.uses, self.reason) = (uses, reason)
  }
}

/// Tells of a grant that stands.
public struct GrantSummary: Equatable, Sendable {
  /// What it is called.
  public let number: UInt64
  /// The process below which it serves.
  public let process: UInt32
  /// The program of that process.
  public let program: [UInt8]
  /// How long it still lasts, in ms.
  public let left: UInt64
  /// How many values it may yet open; nil for any number.
  public let uses: UInt32?
  /// Why it was given.
  public let reason: [UInt8]
  /// The names of its items.
  public let names: [String]

  init(_ entry: borrowing GrantEntry) {
    (number, process, left) = (entry.number, entry.process, entry.left)
    uses = entry.uses == GrantEntry.anyUses ? nil : entry.uses
    program = [UInt8](copying: entry.program.bytes)
    reason = [UInt8](copying: entry.reason.bytes)
    var names: [String] = []
    entry.names.forEach { name in names.append(String(repairing: name.bytes)) }
    self.names = names
  }
}

extension Connection {
  /// Lets the programs below a process read protected values for a while.
  ///
  /// - Parameters:
  ///   - names: The items, at most `ProtocolLimit.granted`.
  ///   - terms: For whom, and for how long.
  ///   - kind: What the secret is.
  ///   - secret: As for an unlock.
  public mutating func grant(
    _ names: [String], _ terms: GrantTerms, _ kind: Credential, secret: borrowing SecretBytes
  ) throws(ClientError) -> GrantReply {
    let list = try Self.list(names)
    return try ask(
      .grant(
        GrantRequest(
          SlotAuthority(kind, secret: secret.bytes), KeyFields(list.bytes, count: names.count),
          to: terms.scope, process: terms.process, lifetime: terms.lifetime,
          uses: terms.uses ?? GrantRequest.anyUses, reason: terms.reason.span)),
      patience: patience.derivation)
  }

  /// What is granted at present, the oldest first. It extends no session.
  public mutating func grants() throws(ClientError) -> [GrantSummary] {
    try send(.grants)
    let reply: GrantsReply = try replied(received(try answer()))
    var grants: [GrantSummary] = []
    reply.forEach { entry in grants.append(GrantSummary(entry)) }
    return grants
  }

  /// Ends a grant, or all of the vault's.
  ///
  /// - Returns: How many ended.
  public mutating func revokeGrants(_ number: UInt64? = nil) throws(ClientError) -> Int {
    let reply: GrantRevokeReply = try ask(
      .grantRevoke(GrantRevokeRequest(number ?? GrantRevokeRequest.all)))
    return Int(reply.count)
  }
}

// MARK: - Asking the owner

/// Tells of a program that asks the owner for something.
public struct WishAsker: Equatable, Sendable {
  /// It and the programs above it, each with its number; what is left out is marked.
  public let chain: [UInt8]
  /// Why, in its own words; empty for none.
  public let reason: [UInt8]
}

/// Tells what a program asks the owner for.
public struct WishSummary: Equatable, Sendable {
  /// What it is called.
  public let number: UInt64
  /// The process below which it is to serve.
  public let process: UInt32
  /// When that process was started, Unix time in ms.
  public let started: UInt64
  /// Whether it may be for more than this once.
  public let mayLast: Bool
  /// For how long, in ms; nil: as the owner chooses.
  public let lifetime: UInt64?
  /// How many values it opens; nil for any number.
  public let uses: UInt32?
  /// The program of that process.
  public let program: [UInt8]
  /// Who asks, the first of them first.
  public let askers: [WishAsker]
  /// The names of the items.
  public let names: [String]
  /// As it was told: an approval is of exactly that.
  let shown: [UInt8]

  init(_ entry: borrowing WishEntry, _ shown: Span<UInt8>) {
    (number, process, started, mayLast) = (
      entry.number, entry.process, entry.started, entry.mayLast
    )
    lifetime = entry.lifetime == WishRequest.ownersChoice ? nil : entry.lifetime
    uses = entry.uses == GrantRequest.anyUses ? nil : entry.uses
    program = [UInt8](copying: entry.program.bytes)
    var askers: [WishAsker] = []
    entry.askers.forEach { chain, reason in
      askers.append(
        WishAsker(chain: [UInt8](copying: chain), reason: [UInt8](copying: reason)))
    }
    self.askers = askers
    var names: [String] = []
    entry.names.forEach { name in names.append(String(repairing: name.bytes)) }
    self.names = names
    self.shown = [UInt8](copying: shown)
  }
}

/// Tells all that the owner is asked for.
public struct WishQueue: Sendable {
  /// Which state that is.
  public var state: UInt64
  /// What may be answered here, the oldest first.
  public var all: [WishSummary]
  /// How much may not: what asks that could answer itself here, or read what is typed.
  public var untold: Int

  /// Nothing that was told yet.
  public init() { self.init(state: WishesRequest.none, all: [], untold: 0) }

  init(state: UInt64, all: [WishSummary], untold: Int) {
    (self.state, self.all, self.untold) = (state, all, untold)
  }
}

extension Connection {
  /// Has the owner asked, wherever somebody waits for that, and waits for the answer.
  ///
  /// - Parameters:
  ///   - names: The items, at most `ProtocolLimit.asked`.
  ///   - terms: For whom; a lifetime of `WishRequest.ownersChoice` leaves that to the owner.
  ///   - milliseconds: How long the answer is waited for.
  ///   - ifAwaited: Whether only where somebody waits to be asked at present.
  ///   - meanwhile: Is called once the owner is asked.
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.protected` when the time ran out or nobody waits,
  ///   and with `Failure.cancelled` when the owner said no.
  public mutating func wish(
    _ names: [String], _ terms: GrantTerms, patience milliseconds: UInt64, ifAwaited: Bool,
    meanwhile: () -> Void
  ) throws(ClientError) {
    guard
      try beginWish(names, terms, patience: milliseconds, flags: ifAwaited ? .ifAwaited : [])
    else { return }
    meanwhile()
    try endWish(patience: milliseconds)
  }

  /// Begins to ask the owner: ``watched`` has something to read once he has answered.
  ///
  /// - Parameters:
  ///   - names: The items, by their names.
  ///   - terms: For whom, for how long and why.
  ///   - milliseconds: How long he is waited for.
  ///   - flags: Where he is asked: with `here`, this program does that, or another one of those that ask at its terminal.
  /// - Returns: Whether there is anything to ask for: what is not protected can be read.
  public mutating func beginWish(
    _ names: [String], _ terms: GrantTerms, patience milliseconds: UInt64 = .max,
    flags: WishRequest.Flags
  ) throws(ClientError) -> Bool {
    let list = try Self.list(names)
    try send(
      .wish(
        WishRequest(
          KeyFields(list.bytes, count: names.count), flags: flags, patience: milliseconds,
          to: terms.scope, process: terms.process, lifetime: terms.lifetime,
          uses: terms.uses ?? GrantRequest.anyUses, reason: terms.reason.span)))
    let frame = try channel.next(patience: patience.answer)
    guard frame.type == .progress else {
      try accept(frame)
      return false
    }
    return true
  }

  /// Reads the answer to a wish that was begun: the values can be read then.
  ///
  /// - Throws: As ``wish(_:_:patience:ifAwaited:meanwhile:)``.
  public mutating func endWish(patience milliseconds: UInt64 = .max) throws(ClientError) {
    let longest = UInt64(Int32.max - patience.answer)
    try done(patience: Int32(min(milliseconds, longest)) + patience.answer)
  }

  /// Begins to hear what the owner is asked for, and goes on: ``watched`` has something to read when there is an answer.
  ///
  /// - Parameters:
  ///   - state: The one that was told last; 0 for none.
  ///   - milliseconds: How long another one is waited for.
  ///   - flags: Which of it: with `own`, what this process asks at its own terminal, with those who ask there as well.
  public mutating func beginWishes(
    since state: UInt64, patience milliseconds: UInt64, _ flags: WishesRequest.Flags = []
  ) throws(ClientError) {
    try send(.wishes(WishesRequest(flags, seen: state, patience: milliseconds)))
  }

  /// Reads the answer to ``beginWishes(since:patience:_:)``.
  ///
  /// - Returns: What this client may answer, and how much more there is.
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.locked`.
  public mutating func endWishes(
    patience milliseconds: UInt64 = 0
  ) throws(ClientError) -> WishQueue {
    let longest = UInt64(Int32.max - patience.answer)
    let time = Int32(min(milliseconds, longest)) + patience.answer
    let reply: WishesReply = try replied(received(try answer(patience: time)))
    var all: [WishSummary] = []
    reply.forEach { entry, shown in all.append(WishSummary(entry, shown)) }
    return WishQueue(state: reply.state, all: all, untold: Int(reply.untold))
  }

  /// Gives what was asked for.
  ///
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.changedMeanwhile` where it is not that any more.
  public mutating func approve(
    _ wish: WishSummary, _ term: ApprovedTerm, _ kind: Credential,
    secret: borrowing SecretBytes
  ) throws(ClientError) -> GrantReply {
    try ask(
      .approve(
        ApproveRequest(SlotAuthority(kind, secret: secret.bytes), of: wish.shown.span, term)),
      patience: patience.derivation)
  }

  /// Refuses what was asked for.
  public mutating func decline(_ wish: WishSummary) throws(ClientError) {
    try send(.decline(DeclineRequest(wish.number)))
    try done()
  }

  /// Names as a request has them.
  static func list(_ names: [String]) throws(ClientError) -> SecretBuffer {
    var list: SecretBuffer
    do throws(SecureMemoryError) { list = try SecretBuffer(capacity: 256) } catch {
      throw .outOfMemory
    }
    do throws(ProtocolError) {
      for name in names { try list.put16(name.utf8.span, limit: ProtocolLimit.name) }
    } catch { throw ClientError(writing: error) }
    return list
  }
}
