// SPDX-License-Identifier: MIT

/// Those who ask for the passcode of one vault, or wait for an answer: one asks at a time.
///
/// A value without clients or prompts: its owner tells it who comes, goes and presses keys, and
/// tells each asker how it ``standing(of:)`` when that has changed. Times are of the monotonic
/// clock, so that a sleeping machine moves no prompt.
public struct PromptLine: Sendable {
  /// How long a prompt may stand untouched while others wait, in ms.
  public static let patience: UInt64 = 60_000

  /// How long a cancel also answers those who come after it, in ms.
  public static let coolDown: UInt64 = 2_000

  /// One who asks or waits.
  public struct Asker: Equatable, Sendable {
    /// Tells it from the others.
    public let id: UInt64
    /// Where it would ask, in words for people.
    public let place: String
    /// Whether it says when a key was pressed.
    public let seesKeys: Bool
    fileprivate var isAside = false

    /// One who has just come.
    public init(id: UInt64, at place: String, seesKeys: Bool) {
      self.id = id
      self.place = place
      self.seesKeys = seesKeys
    }
  }

  /// What an asker has to do.
  public enum Standing: Equatable, Sendable {
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
  /// Until when those who come are answered with the cancel that was.
  private var cancelledUntil: UInt64 = 0

  /// A vault that nobody asks for.
  public init() {}

  /// Whether nothing is to be remembered of it.
  public func isIdle(at now: Moment) -> Bool { askers.isEmpty && coolDownLeft(at: now) == 0 }

  /// For how long those who come are answered with a cancel, in ms.
  public func coolDownLeft(at now: Moment) -> UInt64 {
    cancelledUntil > now.monotonic ? cancelledUntil - now.monotonic : 0
  }

  /// What an asker has to do.
  public func standing(of id: UInt64) -> Standing {
    guard let holder, let asking = askers.first(where: { $0.id == holder }) else { return .aside }
    return holder == id ? .asks : .waits(asking.place)
  }
}

// MARK: - Coming and going

extension PromptLine {
  /// Lets one in; the first one gets the turn. Not to be called in the time of a cancel.
  public mutating func join(_ asker: Asker, at now: Moment) {
    precondition(coolDownLeft(at: now) == 0, "a cancel answers those who come after it")
    askers.append(asker)
    if holder == nil { give(to: asker.id, at: now) }
  }

  /// Lets one go; its turn goes to the next.
  public mutating func leave(_ id: UInt64, at now: Moment) {
    askers.removeAll { $0.id == id }
    if holder == id { pass(at: now) }
  }

  /// Answers all with a cancel, when it is the turn of who cancelled.
  ///
  /// - Returns: Whether all are to be answered; nobody is in the line any more then.
  public mutating func cancel(by id: UInt64, at now: Moment) -> Bool {
    guard holder == id else { return false }
    cancelledUntil = now.monotonic &+ Self.coolDown
    empty()
    return true
  }

  /// Lets all go: the vault is unlocked.
  public mutating func empty() {
    askers = []
    holder = nil
  }
}

// MARK: - Turns

extension PromptLine {
  /// A key was pressed at the prompt.
  public mutating func touch(by id: UInt64, at now: Moment) {
    if holder == id { touched = now.monotonic }
  }

  /// One wants to be asked now; who asked before keeps its place in the line.
  public mutating func take(by id: UInt64, at now: Moment) {
    guard let index = askers.firstIndex(where: { $0.id == id }) else { return }
    askers[index].isAside = false
    give(to: id, at: now)
  }

  /// One cannot ask, until it takes the turn again.
  public mutating func stepAside(_ id: UInt64, at now: Moment) {
    guard let index = askers.firstIndex(where: { $0.id == id }) else { return }
    askers[index].isAside = true
    if holder == id { pass(at: now) }
  }

  /// When ``expire(at:)`` has something to do, in ms of the monotonic clock; nil: never.
  public var deadline: UInt64? {
    guard heir != nil else { return nil }
    return touched &+ Self.patience
  }

  /// Passes a turn on that nobody has used for long; who had it waits behind all others.
  public mutating func expire(at now: Moment) {
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
