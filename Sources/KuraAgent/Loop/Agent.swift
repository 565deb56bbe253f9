// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves all clients and holds all keys, by one thread and one loop.
///
/// Requests are served in line. What takes longer does not hold the loop up: Argon2id runs on
/// the worker, and streams, lists and checks are served in slices, one a turn and client.
public final class Agent {
  let configuration: AgentConfiguration
  let poller: Poller
  let worker: Worker
  let tallies: Tallies
  /// What is known of vaults that are locked.
  let memory = VaultMemory()

  var sessions: [Session] = []
  var connections: PlaceTable<Connection>
  /// How many of them have a seat, and how often a client was heard.
  var seated = 0
  var heard: UInt64 = 0
  /// Connections that ended in this turn: their buffers may still be lent to a caller.
  var ended: [Connection] = []
  /// Connections that may have whole frames waiting since something else let them go on.
  var resumed: [Connection] = []
  /// Connections whose frames were more than a turn has time for; the first is the next.
  var unfinished: [Connection] = []
  /// Until when frames are served in this turn, on the monotonic clock.
  var frameTime: UInt64 = 0
  /// Those that the worker has, or is about to have.
  var attempts: [Attempt] = []
  /// The thread that waits for a TPM, or for a touch; nil before the first.
  var chipWorker: Worker?
  /// The thread that closes vaults; nil before the first.
  var closer: Worker?
  /// The thread that copies vaults; nil before the first.
  var copier: Worker?
  /// Whether keys may be held for clients' words; found out anew where it says so.
  var mayHoldKeys = false
  /// The vaults that somebody asks the passcode of, or did a moment ago.
  var desks: [PromptDesk] = []
  /// Who masks what the programs below them write.
  var masks: [MaskRun] = []
  /// The number of the value that one was told of last.
  var lastNeedle: UInt64 = 0
  /// What the last one who asked is called.
  var lastAsker: UInt64 = 0

  var listener: Listener?
  /// A socket that systemd listens at for us; its name is not ours to remove.
  var inherited: Descriptor?
  /// Why no more connections are taken: until when clients queue, on the monotonic clock.
  var queueDeadline: UInt64?
  let deadlineTimer: Descriptor
  /// What the timer is set to, in milliseconds since boot.
  var armed: UInt64?
  let wakeup: Descriptor
  var directoryWatch: Descriptor?
  var signals: Descriptor?

  /// Whose agent it is: the only user it serves.
  let owner = geteuid()
  /// In how many namespaces of process ids it is: its clients are in the same.
  private(set) lazy var depth = configuration.depths(UInt32(clamping: getpid()))
  /// When the agent began: no vault was unlocked before.
  let began: Moment
  /// Why the loop ends.
  var ending: LockReason?
  /// Whether it ends with its last client, as `--stdio` does.
  var endsWithClients = false

  /// An agent without clients and without keys.
  public init(_ configuration: AgentConfiguration) throws(AgentError) {
    self.configuration = configuration
    tallies = Tallies(configuration)
    poller = try Poller()
    // Before the worker's thread is made, so that it inherits the mask.
    if configuration.endsAtSignals {
      let caught = try Descriptor("signalfd", kura_signals_create())
      try poller.add(caught.raw, for: .readable, as: .signals)
      signals = consume caught
    }
    worker = try Worker()
    connections = PlaceTable(count: configuration.limits.connections)
    deadlineTimer = try Descriptor("timerfd_create", kura_timer_create())
    wakeup = try Descriptor("timerfd_create", kura_wakeup_create())
    began = configuration.clock()
    try poller.add(worker.noticeDescriptor, for: .readable, as: .work)
    try poller.add(deadlineTimer.raw, for: .readable, as: .deadline)
    try poller.add(wakeup.raw, for: .readable, as: .wakeup)
  }

  /// Serves until a signal, the loss of its socket or a client's request ends it; then every
  /// vault is locked, every client answered, and the socket's name gone.
  public func run() throws(AgentError) {
    while ending == nil {
      try turn(waitingAtMost: -1)
      if endsWithClients && connections.isEmpty { break }
    }
    end()
  }

  /// One round: events, what is due, one slice of each stream.
  ///
  /// - Parameter milliseconds: How long to wait for an event; negative: until one is due.
  public func turn(waitingAtMost milliseconds: Int64) throws(AgentError) {
    let left = unfinished.count
    let count = try poller.wait(milliseconds: left > 0 ? 0 : timeout(milliseconds))
    beginFrames()
    for index in 0..<count { try take(poller[index]) }
    serveUnfinished(atMost: left)
    lockDue()
    expireGrants()
    expireDeadlines()
    advanceStreams()
    maintain()
    continueRotations()
    continueBackups()
    settle()
    try arm()
  }

  private func take(_ event: (source: EventSource, ready: Readiness)) throws(AgentError) {
    switch event.source {
    case .listener: accept()
    case .deadline: disarm()
    case .wakeup: _ = kura_wakeup_rearm(wakeup.raw)
    case .signals: takeSignals()
    case .work:
      finishWork()
      finishClosings()
      _ = copier?.finished()
    case .directory: checkSocket()
    // The turn lets go of what was granted to it.
    case .processEnd: break
    case .finger: hearFingers()
    case .connection(let place, let tenant):
      // Late ones find nobody.
      guard let connection = connections[place, tenant] else { return }
      serve(connection, event.ready)
    }
  }

  /// Locks everything, answers everybody and closes.
  private func end() {
    for session in sessions { lock(session, ending ?? .signal) }
    endBackups()
    if ending?.holdsKeyFile == true { LockedVault.holdAllKeyFiles(options) }
    listener?.unlink()
    for connection in connections where connection.hasPending { _ = connection.outbox.send() }
    settle()
    awaitClosings()
    // The hang-up tells who asked for the end that every vault is one file.
    for connection in connections { close(connection) }
    settle()
    worker.stop()
    chipWorker?.stop()
    attempts = []
  }
}

// MARK: - Where clients come from

extension Agent {
  /// Serves the clients that come to a socket directory.
  ///
  /// - Throws: ``AgentError/alreadyRunning``, ``AgentError/directoryUnsafe(path:)``.
  ///
  /// - Parameters:
  ///   - others: Where another agent of this user may listen.
  ///   - state: The state directory that this is to be the only agent of.
  public func listen(
    in path: String, unlessAt others: [String] = [], of state: String? = nil
  ) throws(AgentError) {
    let listener = try Listener.open(
      in: try SocketDirectory(path: path), unlessAt: others, of: state)
    try poller.add(listener.socket.raw, for: .readable, as: .listener)
    let watch = try listener.directory.watch()
    try poller.add(watch.raw, for: .readable, as: .directory)
    directoryWatch = consume watch
    self.listener = consume listener
  }

  /// Serves the clients that come to a socket that somebody else made, and that listens: systemd.
  public func listen(socket fd: Int32) throws(AgentError) {
    try poller.add(fd, for: .readable, as: .listener)
    inherited = Descriptor(owning: fd)
  }

  /// Serves one client over a socket that is open already, and ends with it.
  public func serve(socket fd: Int32) throws(AgentError) {
    var user: UInt32 = 0
    var process: Int32 = 0
    try check("socket", unsafe kura_server_adopt(fd, &user, &process))
    endsWithClients = true
    try admit(Descriptor(owning: fd), of: user, process)
  }

  private func takeSignals() {
    guard let raw = signals?.raw else { return }
    while kura_signals_next(raw) != 0 { ending = .signal }
  }

  /// The socket's name or its directory was touched: without them no client finds this agent.
  private func checkSocket() {
    if let raw = directoryWatch?.raw { kura_descriptor_drain(raw) }
    if listener?.isInPlace == false { ending = .socketGone }
  }
}
