// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Watches for the user to leave, and has the agent lock then; until a signal ends it.
final class Watch {
  /// After how long an agent that did not answer is asked again, in ms.
  private static let pause: UInt64 = 5_000

  private let locker: Locker
  private let sessionID: String?
  private let system = BusLink(
    .system, names: [Hearing.loginManager], rules: Logind.rules)
  private let session = BusLink(
    .session, names: Hearing.screenSavers,
    rules: Hearing.screenSavers.map {
      "sender='\($0)',interface='\($0)',member='ActiveChanged'"
    })
  private let waiting: Waiting
  /// Held until the agent has answered, so that the machine sleeps with the keys wiped.
  private var inhibitor: Inhibitor?
  /// A lock that no agent has answered yet, and when to ask again.
  private var owed: (reason: LockReason, due: UInt64)?
  private var isOver = false

  /// - Parameter sessionID: The session that this program was started in; nil for the user's display.
  init(_ locker: Locker, sessionID: String?) throws(BusError) {
    self.locker = locker
    self.sessionID = sessionID
    waiting = try Waiting()
  }

  /// Watches until SIGTERM, SIGHUP or SIGINT, or until the session that it was started in ends.
  func run() {
    while !isOver {
      let now = Waiting.now
      if system.connect(at: now) {
        waiting.watch(system.bus)
        if system.hearing.hasOwner(Hearing.loginManager) {
          meetLoginManager()
        } else {
          Report.say("the login manager is not there: it is waited for")
        }
      }
      if session.connect(at: now) { waiting.watch(session.bus) }
      if let owed, owed.due <= now { lock(owed.reason) }
      hear(system, at: now)
      hear(session, at: now)
      if waiting.endSignal() {
        // From now on nobody tells of a screen that is locked, or the session is ending.
        Report.say("ending")
        isOver = true
        lock(.logout)
        return
      }
      if isOver { return }
      let deadlines = [system.deadline, session.deadline, owed?.due].compactMap { $0 }
      waiting.wait(for: [system.bus, session.bus], until: deadlines.min())
    }
  }

  private func hear(_ link: BusLink, at now: UInt64) {
    for signal in link.signals(at: now) {
      if let meaning = link.hearing.meaning(of: signal) { act(meaning, link) }
    }
    // An inhibitor ends with the login manager's connection to the bus.
    if system.bus == nil { inhibitor = nil }
  }

  private func act(_ meaning: Hearing.Meaning, _ link: BusLink) {
    switch meaning {
    case .owner(let name, let owner):
      link.hearing.note(owner: owner, of: name)
      guard name == Hearing.loginManager else { return }
      inhibitor = nil
      if owner != nil {
        meetLoginManager()
      } else {
        Report.say("the login manager is gone: it is waited for")
      }
    case .leaving(let reason):
      lock(reason)
      inhibitor = nil
    case .back: inhibit()
    case .screenLocked: lock(.screenLock)
    case .sessionBegan: findSession()
    case .sessionEnded(let path): noteEnd(of: path)
    }
  }
}

// MARK: - The login manager

extension Watch {
  private var loginManager: Logind? {
    system.bus.map { Logind(bus: $0, sessionID: sessionID) }
  }

  /// Asks a login manager that has just come for what it said before.
  private func meetLoginManager() {
    inhibit()
    findSession()
    let session = system.hearing.session
    Report.say(
      "watching for sleep and shutdown, "
        + (session.map { "and the screen of session " + Self.name($0) }
          ?? "and for a session with a screen"))
    if let session, loginManager?.isLocked(session) == true { lock(.screenLock) }
  }

  private func findSession() { system.hearing.session = loginManager?.session() }

  private func inhibit() {
    guard inhibitor == nil, let loginManager else { return }
    do throws(BusError) { inhibitor = try loginManager.inhibit() } catch {
      Report.say(
        "the login manager does not wait for a lock before sleep: \(Report.words(error.number))")
    }
  }

  private func noteEnd(of path: String) {
    let isOwn = path == system.hearing.session
    if isOwn || loginManager?.isLastSessionGone() == true { lock(.logout) }
    // Of the session that it was started in nothing is left to watch.
    isOver = isOwn && sessionID != nil
    if isOwn { findSession() }
  }

  /// The last part of an object's path, without what a terminal would obey.
  private static func name(_ path: String) -> String {
    let part = path.split(separator: "/").last ?? ""
    return String(part.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
  }
}

// MARK: - Locking

extension Watch {
  private func lock(_ reason: LockReason) {
    Report.say(reason.text + ": locking")
    let outcome = locker.lock(reason)
    owed = outcome == .unanswered ? (reason, Waiting.now + Self.pause) : nil
    Report.say(
      reason.text + ": " + outcome.words
        + (owed == nil || isOver ? "" : "; it is asked again until it does"))
  }
}
