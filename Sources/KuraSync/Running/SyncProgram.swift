// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import KuraStore
internal import SecureMemory

/// Runs `kura sync` from the command line to the exit status.
public enum SyncProgram {
  /// Does all of it.
  public static func run(_ arguments: [String]) -> Int32 {
    ProcessHardening.apply()
    let order: SyncOrder
    do throws(SyncOrder.Flaw) { order = try SyncOrder(arguments) } catch {
      return say(
        SyncFailure(.usage, SyncWords.harmless(error.words), hint: "try 'kura help sync'"))
    }
    do throws(SyncFailure) {
      switch order.wanted {
      case .version: write("kura-sync " + Release.version + "\n", to: 1)
      case .help: write(SyncOrder.usage, to: 1)
      case .compact: return Int32(try compact(order).rawValue)
      case .meet, .pull: return Int32(try meet(order).rawValue)
      case .begin(let remote): return Int32(try begin(remote, order).rawValue)
      case .look(let remote): try look(remote)
      case .reach(let vault): try reach(vault)
      case .sql(nil): write(PostgresSchema.tables, to: 1)
      case .sql(let role?):
        guard PostgresSchema.isRole(role) else {
          throw SyncFailure(
            .usage,
            "a role's name is made of a to z, 0 to 9, _ and -, and begins with a letter or _")
        }
        write(PostgresSchema.role(role), to: 1)
      case .joined: return Int32(try meetJoined(order).rawValue)
      }
      return 0
    } catch { return say(error, order) }
  }

  /// Brings the vault and its store together.
  private static func meet(_ order: SyncOrder) throws(SyncFailure) -> ExitStatus {
    if order.isWatch {
      var watcher = Watcher(try vault(order), order)
      try watcher.run()
      return .ok
    }
    let (side, id) = try unlocked(order)
    guard let remote = try Remote.noted(for: id) else {
      throw .noStore
    }
    return try meet(side, id, try remote.open(of: id), remote, order)
  }

  /// Has all sealed anew, and tells for whom that waits.
  private static func compact(_ order: SyncOrder) throws(SyncFailure) -> ExitStatus {
    let ended = try meet(order)
    let side = try unlocked(order).0
    let status = try asking { () throws(ClientError) in try side.connection.syncStatus() }
    for line in SyncWords.compacted(status, now: Machine.clocks().wall) { note(line, order) }
    return ended
  }

  /// Looks into the store of a vault, which may be locked.
  private static func reach(_ vault: [UInt8]) throws(SyncFailure) {
    guard let remote = try Remote.noted(for: vault) else { throw .noStore }
    let store = try remote.open(of: vault)
    do throws(StoreError) { _ = try store.heads() } catch {
      throw SyncFailure(error, at: remote.text)
    }
  }

  /// Begins to share the vault, and meets the store.
  private static func begin(
    _ text: String, _ order: SyncOrder
  ) throws(SyncFailure) -> ExitStatus {
    let remote = try Remote(text)
    let (side, id) = try unlocked(order)
    // What cannot be written to is found out before the vault changes.
    let store = try remote.open(of: id, makes: true)
    let isNew = try Remote.noted(for: id) != remote
    let copy: String?
    do throws(SyncFailure) {
      if order.isSparing { try checkSlots(side, store, of: id, at: remote) }
      let label = order.label ?? hostName
      var flags: SyncStartRequest.Flags = order.isWeakMeant ? .weak : []
      if order.isSparing { flags.insert(.sparing) }
      copy = try asking { () throws(ClientError) in
        try side.connection.startSync(label: label, flags)
      }
    } catch {
      store.leave()
      throw error
    }
    try remote.note(for: id)
    if let copy {
      note(
        "the vault has format 2 now, which releases before 0.2.0 cannot open; a copy of it as it "
          + "was is " + SyncWords.harmless(copy), order)
    }
    let ended = try meet(side, id, store, remote, order, isNew: isNew)
    if isNew { tellOfOthers(than: id, at: remote, order) }
    let status = try asking { () throws(ClientError) in try side.connection.syncStatus() }
    if status.isSparing, !order.isSparing {
      note(
        "this vault is shared by its recovery key alone: no passcode of it gets into the store",
        order)
    }
    return ended
  }

  /// Says that a store has other vaults: one that a machine should have joined is easily made a second time.
  private static func tellOfOthers(
    than vault: [UInt8], at remote: Remote, _ order: SyncOrder
  ) {
    // Nothing hangs on it where the store does not say.
    guard let others = try? remote.vaults().filter({ $0 != vault }), let first = others.first else {
      return
    }
    let text = SyncWords.harmless(remote.text)
    guard others.count == 1 else {
      return note("\(others.count) other vaults are shared by \(text) as well", order)
    }
    note(
      "another vault is shared by \(text) as well; if that is the one of your other machine, "
        + "'kura --vault NAME sync join \(text)/\(StorePlace.root(of: first))' brings it here, "
        + "beside this one", order)
  }

  /// Refuses to keep passcodes out of a store that has some of this vault, before anything is changed.
  private static func checkSlots(
    _ side: Side, _ store: any Store, of vault: [UInt8], at remote: Remote
  ) throws(SyncFailure) {
    let status = try asking { () throws(ClientError) in try side.connection.syncStatus() }
    guard !status.isShared else { return }
    do throws(StoreError) {
      guard try !store.heads().isEmpty else { return }
    } catch { throw SyncFailure(error, at: remote.text) }
    let search = try JoinSearch(store, of: vault, at: remote.text)
    guard search.offers.allSatisfy(\.isSparing) else { throw .passcodesThere }
  }

  /// Writes out what can be joined: the store and the vault, each on a line, then head, header and record of each offer,
  /// with its length before it.
  private static func look(_ text: String) throws(SyncFailure) {
    let (remote, vault) = try Remote.joined(text)
    let store: any Store
    do throws(StoreError) { store = try remote.store(of: vault, makes: false) } catch {
      throw SyncFailure(joining: error, at: remote.text)
    }
    let search = try JoinSearch(store, of: vault, at: remote.text)
    var bytes = Array((remote.text + "\n" + StorePlace.hexadecimal(vault) + "\n").utf8)
    for part in search.offers.flatMap({ [$0.head, $0.header, $0.record] }) {
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part
    }
    do throws(FileError) { try Descriptor.write(bytes.span, to: 1) } catch {
      throw SyncFailure(
        .inputOutput, "cannot write to stdout: " + SystemMessage.text(error.errno))
    }
  }

  /// Meets the store, and tells what to compare with another machine.
  private static func meetJoined(_ order: SyncOrder) throws(SyncFailure) -> ExitStatus {
    let ended = try meet(order)
    let side = try unlocked(order).0
    let status = try asking { () throws(ClientError) in try side.connection.syncStatus() }
    var newest: UInt64 = 0
    try asking { () throws(ClientError) in
      try side.connection.list { item throws(ClientError) in
        newest = max(newest, item.facts.modified)
      }
    }
    for line in SyncWords.joined(status, newest: newest, now: Machine.clocks().wall) {
      note(line, order)
    }
    return ended
  }

  /// Has the vault meet its store, and tells what came of it.
  ///
  /// - Parameters:
  ///   - isNew: Whether this machine was not there before, and nothing that it wrote is missed.
  private static func meet(
    _ side: Side, _ id: [UInt8], _ store: any Store, _ remote: Remote, _ order: SyncOrder,
    isNew: Bool = false
  ) throws(SyncFailure) -> ExitStatus {
    let meeting = try carry(side, store, order)
    let noticed = tell(meeting.report, order, isNew: isNew)
    if let failure = meeting.failure { throw SyncFailure(failure, at: remote.text) }
    try remote.renew(for: id, met: Machine.clocks().wall, noticed)
    // Who asks for the passcode is to know that one is wanted, whatever else there is.
    if order.wanted == .pull, noticed.contains(where: { $0.notice.wantsPasscode }) {
      write("wanted\n", to: 1)
    }
    return SyncWords.status(noticed)
  }

  /// Has the vault meet its store, and shows meanwhile how much goes to and fro.
  static func carry(
    _ side: Side, _ store: any Store, _ order: SyncOrder
  ) throws(SyncFailure) -> Meeting {
    let bar = Bar(isShown: kura_is_terminal(2) && !order.isQuiet)
    defer { bar.clear() }
    return try Meeting(&side.connection, store, compacts: order.wanted == .compact) {
      bar.show($0)
    }
  }

  /// Tells what came of a meeting.
  ///
  /// - Parameters:
  ///   - isNew: As of a meeting.
  ///   - last: What was told already.
  /// - Returns: What was noticed, told already or not.
  static func tell(
    _ report: SyncReply, _ order: SyncOrder, isNew: Bool = false,
    besides last: SyncReply = SyncReply()
  ) -> [SyncNews] {
    let fresh = report.besides(last)
    let lines = SyncWords.lines(fresh)
    let isIdle = lines == [SyncWords.nothing] || lines == [SyncWords.noItem]
    if !order.isWatch || !isIdle { for line in lines { note(line, order) } }
    func counts(_ news: SyncNews) -> Bool {
      !isNew || ![.ownHeadGone, .ownHeadBack, .ownFilesGone].contains(news.notice)
    }
    let now = Machine.clocks().wall
    for news in fresh.news
    where counts(news) && (order.wanted != .pull || !news.notice.wantsPasscode) {
      let line = SyncWords.line(news, now: now)
      if news.notice.isAlarm {
        write("kura: warning: " + order.advice(line) + "\n", to: 2)
      } else {
        note(line, order)
      }
    }
    return report.news.filter(counts)
  }

  /// Keeps the connection where more than one thing uses it.
  final class Side {
    var connection: Connection

    init(_ connection: consuming Connection) { self.connection = connection }
  }

  private static func vault(_ order: SyncOrder) throws(SyncFailure) -> VaultPath {
    do throws(PathError) { return try VaultPath.resolve(order.vault) } catch {
      throw SyncFailure(.usage, error.description)
    }
  }

  /// A connection to the agent that has the vault unlocked, and the vault's id.
  private static func unlocked(_ order: SyncOrder) throws(SyncFailure) -> (Side, [UInt8]) {
    let vault = try vault(order)
    let side = Side(
      try asking { () throws(ClientError) in try Connection.open(vault, engine: .running) })
    let status = try asking { () throws(ClientError) in try side.connection.status() }
    guard status.state == .unlocked else { throw SyncFailure.locked }
    return (side, status.vault)
  }

  /// What this machine is called, where nobody says.
  private static var hostName: String {
    let bytes = Machine().file("/proc/sys/kernel/hostname") ?? []
    let name = String(decoding: bytes.prefix { $0 > 0x20 }.prefix(64), as: UTF8.self)
    return name.isEmpty ? "machine" : name
  }

  /// Shows on a terminal how much went to and fro.
  private struct Bar {
    let isShown: Bool

    func show(_ bytes: Int) {
      guard isShown, bytes >= 1 << 20 else { return }
      write("\r\u{1B}[Kcarrying: \(bytes >> 20) MiB", to: 2)
    }

    func clear() { if isShown { write("\r\u{1B}[K", to: 2) } }
  }

  private static func note(_ text: String, _ order: SyncOrder) {
    if !order.isQuiet { write("kura: notice: " + order.advice(text) + "\n", to: 2) }
  }

  private static func say(_ failure: SyncFailure, _ order: SyncOrder? = nil) -> Int32 {
    func advice(_ text: String) -> String { order?.advice(text) ?? text }
    write("kura: error: " + advice(failure.text) + "\n", to: 2)
    if let hint = failure.hint { write("kura: hint: " + advice(hint) + "\n", to: 2) }
    return Int32(failure.status.rawValue)
  }

  static func write(_ text: String, to descriptor: Int32) {
    do throws(FileError) { try Descriptor.write(text.utf8.span, to: descriptor) } catch {
      // Nobody reads what is said; what was done is done.
      return
    }
  }
}
