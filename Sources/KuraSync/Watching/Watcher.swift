// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import KuraProtocol
internal import KuraStore

/// Runs `kura sync --watch`: meets the store when something changes here or there, until a signal ends it.
struct Watcher: ~Copyable {
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

  /// Says what is met: a vault, and its store as this machine notes it.
  private struct Place: Equatable {
    let vault: [UInt8]
    let remote: Remote
  }

  private let vault: VaultPath
  private let order: SyncOrder
  private var store: (any Store)?
  /// What the store and all that is known of it belong to.
  private var place: Place?
  private var occasion = Occasion()
  /// What the last meeting reported.
  private var last = SyncReply()
  private var delay = 0
  /// What was said last: nothing is said twice in turn.
  private var said = ""

  /// - Parameter order: What else the command line says.
  init(_ vault: VaultPath, _ order: SyncOrder) { (self.vault, self.order) = (vault, order) }

  /// Goes on until a signal comes: that ends this program wherever it is, and leaves what was under way whole, or not there.
  mutating func run() throws(SyncFailure) {
    kura_signals_end_well()
    while true {
      do throws(SyncFailure) {
        try round()
        delay = 0
      } catch {
        guard isPassing(error) else { throw error }
        if error == .locked {
          say("notice: the vault is locked: what is in the store waits there")
          Rest.wait(Patience.agent)
          continue
        }
        store = nil
        say("error: " + error.text)
        delay = delay == 0 ? Patience.firstTry : min(2 * delay, Patience.lastTry)
        Rest.wait(delay)
      }
    }
  }

  /// Whether it may be otherwise later.
  private func isPassing(_ failure: SyncFailure) -> Bool {
    [.inputOutput, .locked, .busy, .agent].contains(failure.status)
  }

  private mutating func say(_ text: String) {
    if text != said, !order.isQuiet {
      SyncProgram.write("kura: " + order.advice(text) + "\n", to: 2)
    }
    said = text
  }

  // MARK: - A round

  /// Waits until the vault is unlocked, meets the store where there is reason to, and waits for the next.
  private mutating func round() throws(SyncFailure) {
    var lock = try connection()
    let status = try asking { () throws(ClientError) in try lock.status() }
    guard status.state == .unlocked else { return try awaitUnlock(&lock) }
    try asking { () throws(ClientError) in try lock.beginWatch() }
    let changes = FolderWatch([folder])
    while true {
      // Another file may stand in the vault's place, and the owner may have named another store.
      let side = SyncProgram.Side(try connection())
      let status = try asking { () throws(ClientError) in try side.connection.status() }
      guard status.state == .unlocked else { return }
      guard let remote = try Remote.noted(for: status.vault) else { throw .noStore }
      let store = try open(Place(vault: status.vault, remote: remote))
      let due = try meet(side, store)
      if due == 0 { continue }
      let look = store.tellsAll ? Patience.lookAtTelling : Patience.look
      if store.rests() { self.store = nil }
      let bells = [lock.watched, changes.descriptor, store.bell]
      switch Rest.wait(min(look, Int(due)), for: bells) {
      case .ready(0):
        try asking { () throws(ClientError) in try lock.endWatch() }
        return
      case .ready(1): settle(changes)
      case .ready:
        do throws(StoreError) { try store.answerBell() } catch {
          throw SyncFailure(error, at: remote.text)
        }
      case .timeout: continue
      }
    }
  }

  /// Meets the store where there is reason to.
  ///
  /// - Returns: How long it is until the next meeting, in ms; 0: there was one.
  private mutating func meet(
    _ side: SyncProgram.Side, _ store: any Store
  ) throws(SyncFailure) -> UInt64 {
    guard let place else { return 0 }
    let state = try asking { () throws(ClientError) in try side.connection.syncStatus() }
    let own = state.devices.first { $0.isThis }?.device ?? []
    let marks: [UInt8]
    do throws(StoreError) { marks = try store.marks(but: own) } catch {
      throw SyncFailure(error, at: place.remote.text)
    }
    let due = occasion.wait(marks, state.waiting, now: Machine.clocks().boot)
    guard due == 0 else { return due }
    let meeting = try SyncProgram.carry(side, store, order)
    let report = meeting.report
    let noticed = SyncProgram.tell(report, order, besides: last)
    if let failure = meeting.failure {
      last.news += report.besides(last).news
      last.waiting = report.waiting
      throw SyncFailure(failure, at: place.remote.text)
    }
    last = report
    try place.remote.renew(for: place.vault, met: Machine.clocks().wall, noticed)
    occasion.met(marks, state.waiting, report, now: Machine.clocks().boot)
    (delay, said) = (0, "")
    return 0
  }

  /// Where the vault stands, and what was written and is not in its file yet.
  private var folder: String {
    let slash = vault.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? vault.path.startIndex
    return String(vault.path[..<slash])
  }

  private func connection() throws(SyncFailure) -> Connection {
    try asking { () throws(ClientError) in try Connection.open(vault, engine: .running) }
  }

  private mutating func awaitUnlock(_ connection: inout Connection) throws(SyncFailure) {
    say("notice: the vault is locked: what is in the store waits there")
    try asking { () throws(ClientError) in
      try connection.beginWait(milliseconds: 86_400_000)
    }
    Rest.wait(-1, for: [connection.watched])
    // A day later, or with another agent, it is asked again.
    try? connection.endWait()
  }

  /// The store of a place. What is known of another one's counts for nothing.
  private mutating func open(_ next: Place) throws(SyncFailure) -> any Store {
    if next != place {
      (store, occasion, last) = (nil, Occasion(), SyncReply())
      place = next
    }
    if let store { return store }
    let opened = try next.remote.open(of: next.vault)
    do throws(StoreError) { try opened.watch() } catch {
      throw SyncFailure(error, at: next.remote.text)
    }
    store = opened
    return opened
  }

  /// Lets what is being written be written: several changes in turn go out together.
  private func settle(_ changes: FolderWatch) {
    for _ in 0..<(Patience.changes / Patience.change) {
      changes.drain()
      guard Rest.wait(Patience.change, for: [changes.descriptor]) == .ready(0) else { return }
    }
    changes.drain()
  }
}
