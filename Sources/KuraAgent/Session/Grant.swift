// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Opens a vault's protected values for who proved a passcode; wiped when dropped.
///
/// A connection holds the one that it proved, for itself alone, for a while. Where the sealed policy says so,
/// single values that were read with it can be read again by the same programs: for that the session keeps
/// their keys, and never what opens others.
final class Grant {
  /// Never nil; optional so that it can be lent where there may be none.
  let key: ProtectedKey?
  /// Whose values it opens.
  private(set) weak var session: Session?
  /// When the passcode was proved, in milliseconds since boot.
  let since: UInt64

  init(_ key: consuming ProtectedKey, of session: Session, since: UInt64) {
    self.key = consume key
    self.session = session
    self.since = since
  }

  /// Whether it may be used, so long after the passcode.
  func isFresh(for lifetime: UInt64, at now: UInt64) -> Bool {
    now >= since && now - since < lifetime
  }
}

/// Lets the programs that an owner answered for read one value, and the secret attributes beside it, again.
struct Window {
  /// How many of a vault there are at most.
  static let most = 256
  /// How many keys they are made of at most: each value has one, and each attribute.
  static let mostKeys = 4_096

  let item: StandingGrant.Item
  /// Shared by those of one process.
  let below: SharedRoot
  /// When the passcode was proved, in milliseconds since boot.
  let since: UInt64

  var body: BodyKey { item.body }
  var tree: ProcessTree { below.root.tree }

  /// Why it is over, so long after the passcode; nil while it is not.
  func end(for lifetime: UInt64, at now: UInt64) -> GrantEnd? {
    if below.root.hasEnded { return .process }
    return now >= since && now - since < lifetime ? nil : .time
  }
}

/// Holds the process that windows are for, until the last of them ends.
final class SharedRoot {
  let root: GrantRoot

  init(_ root: consuming GrantRoot) { self.root = root }
}

extension Agent {
  /// Reads a protected value by what its client proved, else by what was answered for it before.
  ///
  /// - Parameter body: Reads with what there is; it is called again where that is not enough.
  func opening<Result: ~Copyable>(
    _ connection: Connection, on session: Session,
    _ body: (Grant?) throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    expireGrants()
    let own = connection.grant.flatMap { $0.session === session ? $0 : nil }
    do throws(Refusal) { return try body(own) } catch {
      guard error.failure == .protected, own == nil else { throw error }
      guard let grant = grant(byWindowsOf: session, for: connection) else {
        return try openingByGrants(connection, on: session, error, body)
      }
      do throws(Refusal) { return try body(grant) } catch {
        guard error.failure == .protected else { throw error }
        return try openingByGrants(connection, on: session, error, body)
      }
    }
  }

  /// What the owner answered for before, of what the client belongs to.
  private func grant(byWindowsOf session: Session, for connection: Connection) -> Grant? {
    // Another engine may have shortened the windows, which showed with the look at the vault just now.
    expireGrants()
    let trees = session.windows.map(\.tree)
    guard !trees.isEmpty, let chain = chain(of: connection, upTo: trees) else { return nil }
    let windows = session.windows.filter { chain.isWithin($0.tree) }
    guard let since = windows.map(\.since).min() else { return nil }
    return Grant(ProtectedKey(of: windows.map(\.body)), of: session, since: since)
  }

  /// A client's process and those above it; nil where that may be another one by its number.
  ///
  /// - Parameter roots: What is above the last of these does not matter; none for all that is above.
  func chain(of connection: Connection, upTo roots: [ProcessTree] = []) -> ProcessChain? {
    let chain = ProcessChain(
      of: UInt32(clamping: connection.process), startedBefore: connection.began, upTo: roots,
      configuration.processes)
    // Until it ends, its number is no other's.
    return lives(connection) == true ? chain : nil
  }

  /// Notes that a protected value, or an attribute beside it, was read by what its client proved: for as long as its
  /// owner set, which begins with the passcode, the same programs may read both again.
  ///
  /// - Parameter revision: Which one was read; nil for the current one.
  func remember(
    _ name: Span<UInt8>, revision: UInt64?, on session: Session, for connection: Connection
  ) {
    guard let grant = connection.grant, grant.session === session, session.isUnlocked,
      grant.isFresh(for: session.reuseWindow, at: configuration.clock().boot),
      let below = root(of: chain(of: connection), in: session)
    else { return }
    let tree = below.root.tree
    // What cannot be noted is asked for again.
    let found = try? session.withVault { vault throws(VaultError) in
      try vault.bodyKey(name, revision: revision, from: grant.key)
    }
    guard let body = found, let own = try? secret(name) else { return }
    // One that the same passcode began goes on.
    let goesOn = session.windows.contains {
      $0.tree == tree && $0.since == grant.since && body.covers($0.body)
    }
    session.windows.removeAll { $0.tree == tree && body.covers($0.body) }
    let window = Window(item: StandingGrant.Item(body, own), below: below, since: grant.since)
    session.windows.append(window)
    if !goesOn { note(.grant, window.item.name, 0, [], in: session, by: connection) }
    var keys = session.windows.reduce(0) { $0 + $1.body.count }
    while let first = session.windows.first,
      session.windows.count > Window.most || keys > Window.mostKeys
    {
      keys -= first.body.count
      endWindows(of: session) { $0.item === first.item ? .room : nil }
    }
  }

  /// Lets go of windows, and notes how each ended.
  ///
  /// - Parameter cause: Why one ends; nil for one that stays.
  /// - Returns: Of how many processes there were any.
  @discardableResult
  func endWindows(
    of session: Session, by client: Connection? = nil, _ cause: (Window) -> GrantEnd?
  ) -> Int {
    let count = session.windowsByProcess.count
    var ended: [(item: StandingGrant.Item, cause: GrantEnd)] = []
    session.windows.removeAll { window in
      guard let cause = cause(window) else { return false }
      ended.append((window.item, cause))
      return true
    }
    for (item, cause) in ended {
      noteSoon(
        .grantRevoke, detail: cause.logDetail(0), name: item.name.bytes, of: session, by: client)
    }
    return count
  }

  /// What is answered for where a client asks, held until it ends; nil where it cannot be.
  private func root(of chain: ProcessChain?, in session: Session) -> SharedRoot? {
    guard let chain, let tree = chain.tree else { return nil }
    let known = session.windows.first { $0.tree == tree && !$0.below.root.hasEnded }
    if let known { return known.below }
    guard let link = chain.links.first(where: { $0.process == tree.process }),
      let root = try? GrantRoot(link, configuration),
      (try? poller.add(root.watched, for: .readable, as: .processEnd)) != nil
    else { return nil }
    return SharedRoot(root)
  }

  /// Lets go of what is too old, or has nobody left to be for; asked before each use, and at each timer.
  func expireGrants() {
    guard hasGrants else { return }
    let now = configuration.clock().boot
    for connection in connections {
      if connection.grant?.isFresh(for: SlotAuthority.lifetime, at: now) == false {
        connection.grant = nil
      }
    }
    for session in sessions {
      endWindows(of: session) { $0.end(for: session.reuseWindow, at: now) }
      expireStanding(in: session, at: now)
    }
  }

  /// Takes from all clients what opens a vault's protected values.
  func revokeGrants(of session: Session, _ cause: GrantEnd = .revoked) {
    endWindows(of: session) { _ in cause }
    endGrants(of: session, cause)
    for connection in connections where connection.grant?.session === session {
      connection.grant = nil
    }
  }

  /// When the next of them is too old, in milliseconds since boot.
  var nextGrantDeadline: UInt64? {
    guard hasGrants else { return nil }
    let own = connections.compactMap { $0.grant.map { $0.since + SlotAuthority.lifetime } }
    let shared = sessions.flatMap { session in
      session.windows.map { $0.since + session.reuseWindow }
    }
    return (own + shared + sessions.compactMap(\.grants.nextDeadline)).min()
  }

  private var hasGrants: Bool {
    sessions.contains { !$0.windows.isEmpty || !$0.grants.isEmpty }
      || connections.contains { $0.grant != nil }
  }
}

extension Session {
  /// How long after a passcode the values that were read with it are served again, in milliseconds.
  var reuseWindow: UInt64 { policy?[.reuseWindow] ?? 0 }

  /// What is served again, those of one process together, the oldest first.
  var windowsByProcess: [[Window]] {
    var all: [[Window]] = []
    for window in windows {
      if let known = all.firstIndex(where: { $0[0].below === window.below }) {
        all[known].append(window)
      } else {
        all.append([window])
      }
    }
    return all
  }
}
