// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Says when one vault must be locked, and keeps why and since when it is.
///
/// A value without files, sockets or keys: its owner keeps the vault beside it, reads the clocks
/// and does what it says. Before a request is served, and whenever a timer fires, the owner asks
/// ``dueLock(at:)`` and locks first when there is a reason; so a machine that wakes up can never
/// answer first and lock later.
struct LockState: Sendable {
  /// The sleep that is not taken for one: the two clocks are not read in the same instant.
  static let sleepTolerance: UInt64 = 2_000

  /// The clocks of an unlocked vault.
  struct Open: Equatable, Sendable {
    var limits: SessionLimits
    let since: Moment
    var lastUse: UInt64
    var asleep: UInt64

    var idleDeadline: UInt64 { saturating(lastUse, limits.idleTimeout) }
    var sessionDeadline: UInt64 { saturating(since.boot, limits.maxSession) }

    private func saturating(_ start: UInt64, _ time: UInt64) -> UInt64 {
      let (end, overflow) = start.addingReportingOverflow(time)
      return overflow ? .max : end
    }
  }

  enum State: Equatable, Sendable {
    case locked(LockNote)
    case unlocked(Open)
  }

  private(set) var state: State
  /// One more with each lock, so that an attempt knows whether there was one since it began.
  private var locks: UInt64 = 0
  private var attempts = 0

  /// A session that begins locked: an agent that starts holds no key.
  init(at now: Moment) {
    state = .locked(.neverUnlocked(since: now))
  }

  /// Whether the vault's keys are held.
  var isUnlocked: Bool {
    if case .unlocked = state { true } else { false }
  }

  /// Whether an attempt to unlock is under way.
  var isUnlocking: Bool { attempts > 0 }

  /// Why and since when it is locked; nil while it is unlocked.
  var lockNote: LockNote? {
    if case .locked(let note) = state { note } else { nil }
  }

  /// The limits that apply while it is unlocked.
  var limits: SessionLimits? {
    if case .unlocked(let open) = state { open.limits } else { nil }
  }
}

// MARK: - Unlocking

/// Tells at the end of an attempt whether the vault was locked since it began: Argon2id takes its time.
struct UnlockTicket: Equatable, Sendable {
  fileprivate let locks: UInt64
}

extension LockState {
  /// Notes that an attempt began; each ends with one ``endAttempt(_:)``.
  mutating func beginAttempt() -> UnlockTicket {
    attempts += 1
    return UnlockTicket(locks: locks)
  }

  /// Notes that an attempt ended.
  ///
  /// - Returns: Whether its result may be used. A lock that came meanwhile was meant: the
  ///   attempt ran to its end, and what it found has to be wiped.
  mutating func endAttempt(_ ticket: UnlockTicket) -> Bool {
    precondition(attempts > 0, "an attempt ends once")
    attempts -= 1
    return ticket.locks == locks
  }

  /// Begins both clocks: the vault's keys are held from now on.
  ///
  /// On a vault that is unlocked already it begins them anew: its owner has proved the passcode.
  mutating func unlock(_ limits: SessionLimits, at now: Moment) {
    state = .unlocked(
      Open(limits: limits, since: now, lastUse: now.boot, asleep: now.asleep))
  }
}

// MARK: - Locking

extension LockState {
  /// Why the vault has to be locked before anything else happens, or nil.
  ///
  /// A sleep is named before the deadlines that passed in it.
  func dueLock(at now: Moment) -> LockReason? {
    guard case .unlocked(let open) = state else { return nil }
    let slept = now.asleep > open.asleep ? now.asleep - open.asleep : 0
    if open.limits.locksOnSleep && slept > Self.sleepTolerance { return .slept }
    if now.boot >= open.sessionDeadline { return .sessionLimit }
    if now.boot >= open.idleDeadline { return .idle }
    return nil
  }

  /// When ``dueLock(at:)`` is to be asked next, in milliseconds since boot; nil while locked.
  var nextDeadline: UInt64? {
    guard case .unlocked(let open) = state else { return nil }
    return min(open.idleDeadline, open.sessionDeadline)
  }

  /// Notes that the keys are gone, and makes every attempt under way useless.
  ///
  /// A vault that is locked already keeps its reason and time.
  mutating func lock(_ reason: LockReason, at now: Moment) {
    locks += 1
    guard case .unlocked(let open) = state else { return }
    let timeout = open.limits.idleTimeout
    state = .locked(LockNote(reason, since: now.wall, idleTimeout: timeout))
  }
}

extension LockReason {
  /// Whether somebody wanted the lock, or it cannot be told: then key files that are tried by themselves wait.
  var holdsKeyFile: Bool {
    switch self {
    case .asked, .slept, .suspend, .screenLock, .logout, .socketGone, .vaultChanged: true
    case .neverUnlocked, .idle, .sessionLimit, .signal: false
    }
  }
}

// MARK: - Use and limits

extension LockState {
  /// Notes that a value was served or stored: nothing else extends the idle clock.
  mutating func use(at now: Moment) {
    // What was served in the moment a deadline passed does not undo it.
    guard case .unlocked(var open) = state, dueLock(at: now) == nil else { return }
    open.lastUse = max(open.lastUse, now.boot)
    state = .unlocked(open)
  }

  /// Applies limits that were changed while unlocked; both clocks go on.
  ///
  /// Sleep counts from now on when it did not before.
  mutating func adjust(_ limits: SessionLimits, at now: Moment) {
    guard case .unlocked(var open) = state else { return }
    if limits.locksOnSleep && !open.limits.locksOnSleep { open.asleep = now.asleep }
    open.limits = limits
    state = .unlocked(open)
  }

  /// What `status` shows of the clocks; nil while locked.
  func clocks(at now: Moment) -> SessionClocks? {
    guard case .unlocked(let open) = state else { return nil }
    return SessionClocks(
      since: open.since.wall, idleLeft: left(open.idleDeadline, now),
      sessionLeft: left(open.sessionDeadline, now), limits: open.limits)
  }

  private func left(_ deadline: UInt64, _ now: Moment) -> UInt64 {
    deadline > now.boot ? deadline - now.boot : 0
  }
}

/// Tells how an unlocked vault stands in time; all in milliseconds.
struct SessionClocks: Equatable, Sendable {
  /// When it was unlocked, in Unix time.
  let since: UInt64
  /// Until it locks when it is not used.
  let idleLeft: UInt64
  /// Until it locks in any case.
  let sessionLeft: UInt64
  /// The limits that apply.
  let limits: SessionLimits
}

extension LockNote {
  /// Says of a vault that an agent has not unlocked it since it began.
  static func neverUnlocked(since began: Moment) -> LockNote {
    LockNote(
      .neverUnlocked, since: began.wall, idleTimeout: SessionLimits.standard.idleTimeout)
  }
}
