// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraSession
internal import KuraVault

/// What opens a vault's protected values, held for a while after a fresh passcode; wiped when dropped.
///
/// A connection holds the one that it proved, for itself alone. Where the sealed policy says so, the
/// session holds it, too, once a value was read with it.
final class Grant {
  /// Never nil; optional so that it can be lent where there may be none.
  let key: ProtectedKey?
  /// Whose values it opens.
  private(set) weak var keeper: Keeper?
  /// When the passcode was proved, in milliseconds since boot.
  let since: UInt64

  init(_ key: consuming ProtectedKey, of keeper: Keeper, since: UInt64) {
    self.key = consume key
    self.keeper = keeper
    self.since = since
  }

  /// Whether it may be used, so long after the passcode.
  func isFresh(for lifetime: UInt64, at now: UInt64) -> Bool {
    now >= since && now - since < lifetime
  }
}

extension Agent {
  /// What opens protected values for a client; nil where it has to prove a passcode first.
  func grant(of connection: Connection, on keeper: Keeper) -> Grant? {
    expireGrants()
    if let own = connection.grant, own.keeper === keeper { return own }
    return keeper.grant
  }

  /// Lets go of what is too old; asked before each use, and at each timer.
  func expireGrants() {
    guard hasGrants else { return }
    let now = configuration.clock().boot
    for case let connection? in connections {
      if connection.grant?.isFresh(for: AuthorizeRequest.lifetime, at: now) == false {
        connection.grant = nil
      }
    }
    for keeper in keepers {
      if keeper.grant?.isFresh(for: keeper.reuseWindow, at: now) == false { keeper.grant = nil }
    }
  }

  /// Notes that a protected value was opened. From then on the session may read by itself for as long as
  /// its owner set, which begins with the passcode.
  ///
  /// - Returns: Whether the value may be served: another engine may have shortened the window, which
  ///   shows with the read.
  func use(_ grant: Grant, of keeper: Keeper, for connection: Connection) -> Bool {
    let now = configuration.clock().boot
    let isWithin = grant.isFresh(for: keeper.reuseWindow, at: now)
    if isWithin, (keeper.grant?.since ?? 0) <= grant.since { keeper.grant = grant }
    if !isWithin, keeper.grant === grant { keeper.grant = nil }
    return isWithin || connection.grant === grant
  }

  /// Takes from all clients what opens a vault's protected values.
  func revokeGrants(of keeper: Keeper) {
    keeper.grant = nil
    for case let connection? in connections where connection.grant?.keeper === keeper {
      connection.grant = nil
    }
  }

  /// When the next of them is too old, in milliseconds since boot.
  var nextGrantDeadline: UInt64? {
    guard hasGrants else { return nil }
    let own = connections.compactMap { $0?.grant.map { $0.since + AuthorizeRequest.lifetime } }
    let shared = keepers.compactMap { keeper in
      keeper.grant.map { $0.since + keeper.reuseWindow }
    }
    return (own + shared).min()
  }

  private var hasGrants: Bool {
    keepers.contains { $0.grant != nil } || connections.contains { $0?.grant != nil }
  }
}

extension Keeper {
  /// How long after a passcode further protected values are served, in milliseconds.
  var reuseWindow: UInt64 { policy?[.reuseWindow] ?? 0 }
}
