// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Keeps up with a bus: connects, says whom to listen to, and begins anew when the bus was gone.
final class BusLink {
  let kind: Bus.Kind
  private(set) var bus: Bus?
  var hearing: Hearing
  private let rules: [String]
  private var backoff = Backoff()
  /// When to try next, by the monotonic clock.
  private var due: UInt64 = 0
  /// Whether its being gone was told.
  private var isMissed = false

  init(_ kind: Bus.Kind, names: [String], rules: [String]) {
    self.kind = kind
    self.rules = rules
    hearing = Hearing(names: names)
  }

  /// When it wants to be looked after, in ms of the monotonic clock.
  var deadline: UInt64? { bus == nil ? due : bus?.deadline }

  /// Connects where that is due.
  ///
  /// - Returns: Whether it is connected now and was not before.
  func connect(at now: UInt64) -> Bool {
    guard bus == nil, now >= due else { return false }
    do throws(BusError) {
      let bus = try Bus(kind)
      var hearing = Hearing(names: hearing.names)
      for name in hearing.names {
        try bus.listen(
          "sender='\(Hearing.bus)',interface='\(Hearing.bus)',member='NameOwnerChanged',arg0='\(name)'"
        )
      }
      for rule in rules { try bus.listen(rule) }
      for name in hearing.names { hearing.note(owner: try bus.owner(of: name), of: name) }
      (self.bus, self.hearing) = (bus, hearing)
      backoff.reset()
      if isMissed { Report.say("the \(word) bus is back") }
      isMissed = false
      return true
    } catch {
      lose(error, at: now)
      return false
    }
  }

  /// What was said; nothing where the bus is gone.
  func signals(at now: UInt64) -> [Signal] {
    guard let bus else { return [] }
    do throws(BusError) { return try bus.process() } catch {
      lose(error, at: now)
      return []
    }
  }

  /// Lets go of a bus that does not work, and tells of it once.
  private func lose(_ error: BusError, at now: UInt64) {
    bus = nil
    hearing = Hearing(names: hearing.names)
    due = now + backoff.next()
    if !isMissed {
      Report.say(
        "the \(word) bus cannot be reached: \(Report.words(error.number)); it is tried again until it can"
      )
    }
    isMissed = true
  }

  private var word: String {
    switch kind {
    case .system: "system"
    case .session: "session"
    }
  }
}
