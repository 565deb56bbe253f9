// SPDX-License-Identifier: MIT

/// Gives those who ask for the passcode of one vault their turns: one asks at a time, the others wait.
///
/// A value without clients or prompts: its owner tells it who comes, goes and presses keys, and
/// tells each asker how it ``standing(of:)`` when that has changed. Times are of the monotonic
/// clock, so that a sleeping machine moves no prompt.
struct PromptLine: Sendable {
  /// How long a prompt may stand untouched while others wait, in ms.
  static let patience: UInt64 = 60_000

  /// How long a cancel also answers those who come after it with what was cancelled, in ms.
  static let coolDown: UInt64 = 2_000

  /// How long it answers whatever comes from the same session, in ms: a shell's loop goes on faster than
  /// anybody types.
  static let loopCoolDown: UInt64 = 250

  /// Tells whether two commands were started together: `make -j4`, a script, a pipe are one process group,
  /// and what is typed at a shell's prompt is always another.
  struct Origin: Hashable, Sendable {
    /// The process group; 0: not known.
    let group: Int32
    /// The session of processes; 0: not known.
    let session: Int32
  }

  /// One who asks or waits.
  struct Asker: Equatable, Sendable {
    /// Tells it from the others.
    let id: UInt64
    /// Where it would ask, in words for people.
    let place: String
    /// Whether it says when a key was pressed.
    let seesKeys: Bool
    /// What it was started with.
    let origin: Origin
    fileprivate var isAside = false

    /// One who has just come.
    init(id: UInt64, at place: String, seesKeys: Bool, from origin: Origin) {
      self.id = id
      self.place = place
      self.seesKeys = seesKeys
      self.origin = origin
    }
  }

  /// Says what an asker has to do.
  enum Standing: Equatable, Sendable {
    /// Ask: it is its turn.
    case asks
    /// Wait for the prompt at a place.
    case waits(String)
    /// Nothing: it cannot ask, and nobody else does.
    case aside
  }

  /// In the order in which they get their turn.
  private var askers: [Asker] = []
  private var holder: UInt64?
  /// When a key was last pressed, or the turn given.
  private var touched: UInt64 = 0
  /// When a prompt was last cancelled, and from where those came who asked and waited; nil: never.
  private var cancel: (at: UInt64, origins: Set<Origin>)?

  /// A vault that nobody asks for.
  init() {}

  /// Whether nothing is to be remembered of it.
  func isIdle(at now: Moment) -> Bool { askers.isEmpty && left(of: Self.coolDown, now) == 0 }

  /// For how long one who comes is answered with the cancel that was, in ms: who belongs to what was
  /// cancelled, or asks by a program's window, which nobody has typed a command for. A command typed
  /// afterwards asks.
  func coolDownLeft(for asker: Asker, at now: Moment) -> UInt64 {
    guard let cancel else { return 0 }
    let (group, session) = (asker.origin.group, asker.origin.session)
    if !asker.seesKeys || group <= 0 || cancel.origins.contains(where: { $0.group == group }) {
      return left(of: Self.coolDown, now)
    }
    guard cancel.origins.contains(where: { $0.session == session }) else { return 0 }
    return left(of: Self.loopCoolDown, now)
  }

  private func left(of time: UInt64, _ now: Moment) -> UInt64 {
    guard let cancel else { return 0 }
    let end = cancel.at &+ time
    return end > now.monotonic ? end - now.monotonic : 0
  }

  /// What an asker has to do.
  func standing(of id: UInt64) -> Standing {
    guard let holder, let asking = askers.first(where: { $0.id == holder }) else { return .aside }
    return holder == id ? .asks : .waits(asking.place)
  }
}

// MARK: - Coming and going

extension PromptLine {
  /// Lets one in; the first one gets the turn. Not to be called in the time of a cancel.
  mutating func join(_ asker: Asker, at now: Moment) {
    precondition(coolDownLeft(for: asker, at: now) == 0, "a cancel answers what belongs to it")
    askers.append(asker)
    if holder == nil { give(to: asker.id, at: now) }
  }

  /// Lets one go; its turn goes to the next.
  mutating func leave(_ id: UInt64, at now: Moment) {
    askers.removeAll { $0.id == id }
    if holder == id { pass(at: now) }
  }

  /// Answers all with a cancel, when it is the turn of who cancelled.
  ///
  /// - Returns: Whether all are to be answered; nobody is in the line any more then.
  mutating func cancel(by id: UInt64, at now: Moment) -> Bool {
    guard holder == id else { return false }
    cancel = (now.monotonic, Set(askers.map(\.origin)))
    empty()
    return true
  }

  /// Lets all go: the vault is unlocked.
  mutating func empty() {
    askers = []
    holder = nil
  }
}

// MARK: - Turns

extension PromptLine {
  /// A key was pressed at the prompt.
  mutating func touch(by id: UInt64, at now: Moment) {
    if holder == id { touched = now.monotonic }
  }

  /// One wants to be asked now; who asked before keeps its place in the line.
  mutating func take(by id: UInt64, at now: Moment) {
    guard let index = askers.firstIndex(where: { $0.id == id }) else { return }
    askers[index].isAside = false
    give(to: id, at: now)
  }

  /// One cannot ask, until it takes the turn again.
  mutating func stepAside(_ id: UInt64, at now: Moment) {
    guard let index = askers.firstIndex(where: { $0.id == id }) else { return }
    askers[index].isAside = true
    if holder == id { pass(at: now) }
  }

  /// When ``expire(at:)`` has something to do, in ms of the monotonic clock; nil: never.
  var deadline: UInt64? {
    guard heir != nil else { return nil }
    return touched &+ Self.patience
  }

  /// Passes a turn on that nobody has used for long; who had it waits behind all others.
  mutating func expire(at now: Moment) {
    guard let deadline, now.monotonic >= deadline, let heir,
      let index = askers.firstIndex(where: { $0.id == holder })
    else { return }
    askers.append(askers.remove(at: index))
    give(to: heir, at: now)
  }

  /// Who gets the turn when nobody touches the prompt. A prompt that sees no keys is not taken
  /// away to be shown in the same window again: somebody may be typing there.
  private var heir: UInt64? {
    guard let holder, let asking = askers.first(where: { $0.id == holder }) else { return nil }
    let next = askers.first { asker in
      asker.id != holder && !asker.isAside && (asking.seesKeys || asker.place != asking.place)
    }
    return next?.id
  }

  private mutating func pass(at now: Moment) {
    holder = nil
    if let next = askers.first(where: { !$0.isAside }) { give(to: next.id, at: now) }
  }

  private mutating func give(to id: UInt64, at now: Moment) {
    if holder != id { touched = now.monotonic }
    holder = id
  }
}
