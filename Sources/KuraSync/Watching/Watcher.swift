// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import KuraProtocol
internal import KuraStore

/// Runs `kura sync --watch`: meets the store when something changes here or there, until a signal ends it.
struct Watcher: ~Copyable {
  /// Tells how a round ended.
  private enum Turn { case again, end }

  /// Holds how long is waited, in ms.
  enum Patience {
    /// Until a store is looked at that told of nothing; one that tells of all that comes.
    static let look = 60_000
    static let lookAtTelling = 600_000
    /// Between two tries of a store that cannot be used, at first and at last.
    static let firstTry = 5_000
    static let lastTry = 300_000
    /// Between two looks for an agent.
    static let agent = 2_000
    /// Until a change of the vault counts as done, and at most while changes go on.
    static let change = 300
    static let changes = 1_000
  }

  private let vault: VaultPath
  private let order: SyncOrder
  private let rest = Rest()
  private var store: (any Store)?
  /// What stood in the store when it was met last; nil: it was not yet.
  private var seen: [UInt8]?
  /// How many changes did not go out then.
  private var waiting: UInt64 = 0
  private var delay = 0
  /// What was said last: nothing is said twice in turn.
  private var said = ""

  /// - Parameter order: What else the command line says.
  init(_ vault: VaultPath, _ order: SyncOrder) { (self.vault, self.order) = (vault, order) }

  /// Goes on until a signal comes.
  mutating func run() throws(SyncFailure) {
    while true {
      do throws(SyncFailure) {
        if try round() == .end { return }
        delay = 0
      } catch {
        guard isPassing(error) else { throw error }
        if error == .locked {
          say("notice: the vault is locked: what is in the store waits there")
          if rest.wait(Patience.agent) == .signal { return }
          continue
        }
        store = nil
        say("error: " + error.text)
        delay = delay == 0 ? Patience.firstTry : min(2 * delay, Patience.lastTry)
        if rest.wait(delay) == .signal { return }
      }
    }
  }

  /// Whether it may be otherwise later.
  private func isPassing(_ failure: SyncFailure) -> Bool {
    [.inputOutput, .locked, .busy, .agent].contains(failure.status)
  }

  private mutating func say(_ text: String) {
    if text != said, !order.isQuiet { SyncProgram.write("kura: " + text + "\n", to: 2) }
    said = text
  }

  // MARK: - A round

  /// Waits until the vault is unlocked, meets the store where there is reason to, and waits for the next.
  private mutating func round() throws(SyncFailure) -> Turn {
    var lock = try connection()
    let status = try asking { () throws(ClientError) in try lock.status() }
    guard status.state == .unlocked else { return try awaitUnlock(&lock) }
    try asking { () throws(ClientError) in try lock.beginWatch() }
    guard let remote = try Remote.noted(for: status.vault) else { throw .noStore }
    let changes = FolderWatch([folder])
    while true {
      let side = SyncProgram.Side(try connection())
      let state = try asking { () throws(ClientError) in try side.connection.syncStatus() }
      let own = state.devices.first { $0.isThis }?.device ?? []
      let store = try open(remote, of: status.vault)
      let marks: [UInt8]
      do throws(StoreError) { marks = try store.marks(but: own) } catch {
        throw SyncFailure(error, at: remote.text)
      }
      if marks != seen || state.waiting > waiting {
        let signals = rest.signals
        // What is under way is as after a kill: whole, or not there.
        _ = try SyncProgram.meet(side, status.vault, store, remote, order) {
          if kura_signals_next(signals) != 0 { exit(0) }
        }
        seen = marks
        waiting = try asking { () throws(ClientError) in try side.connection.syncStatus() }.waiting
        (delay, said) = (0, "")
        if rest.isEnding { return .end }
        continue
      }
      waiting = state.waiting
      let look = store.tellsAll ? Patience.lookAtTelling : Patience.look
      switch rest.wait(look, for: [lock.watched, changes.descriptor, store.bell]) {
      case .signal: return .end
      case .ready(0):
        try asking { () throws(ClientError) in try lock.endWatch() }
        return .again
      case .ready(1): settle(changes)
      case .ready:
        do throws(StoreError) { try store.answerBell() } catch {
          throw SyncFailure(error, at: remote.text)
        }
      case .timeout: continue
      }
    }
  }

  /// Where the vault stands, and what was written and is not in its file yet.
  private var folder: String {
    let slash = vault.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? vault.path.startIndex
    return String(vault.path[..<slash])
  }

  private func connection() throws(SyncFailure) -> Connection {
    try asking { () throws(ClientError) in try Connection.open(vault, engine: .running) }
  }

  private mutating func awaitUnlock(
    _ connection: inout Connection
  ) throws(SyncFailure) -> Turn {
    say("notice: the vault is locked: what is in the store waits there")
    try asking { () throws(ClientError) in
      try connection.beginWait(milliseconds: 86_400_000)
    }
    if rest.wait(-1, for: [connection.watched]) == .signal { return .end }
    // A day later, or with another agent, it is asked again.
    do throws(ClientError) { try connection.endWait() } catch { return .again }
    return .again
  }

  private mutating func open(
    _ remote: Remote, of id: [UInt8]
  ) throws(SyncFailure) -> any Store {
    if let store { return store }
    let opened = try remote.open(of: id)
    do throws(StoreError) { try opened.watch() } catch {
      throw SyncFailure(error, at: remote.text)
    }
    store = opened
    return opened
  }

  /// Lets what is being written be written: several changes in turn go out together.
  private func settle(_ changes: FolderWatch) {
    for _ in 0..<(Patience.changes / Patience.change) {
      changes.drain()
      guard rest.wait(Patience.change, for: [changes.descriptor]) == .ready(0) else { return }
    }
    changes.drain()
  }
}
