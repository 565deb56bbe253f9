// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Says what a descriptor is watched for or ready for.
struct Readiness: OptionSet {
  let rawValue: UInt32

  static let readable = Readiness(rawValue: UInt32(KURA_READABLE))
  static let writable = Readiness(rawValue: UInt32(KURA_WRITABLE))
  /// Always watched for.
  static let hungUp = Readiness(rawValue: UInt32(KURA_HUNG_UP))
}

/// Says whom an event is for.
enum EventSource: Equatable {
  case listener
  case deadline
  case wakeup
  case signals
  case work
  case directory
  /// A process has ended that something was granted to.
  case processEnd
  /// A program that asks for a finger has said something.
  case finger
  /// A place in the table of connections, and which of its tenants is meant.
  case connection(place: Int, tenant: UInt32)

  private static let places: UInt64 = 1 << 16

  init(token: UInt64) {
    switch token {
    case 0: self = .listener
    case 1: self = .deadline
    case 2: self = .wakeup
    case 3: self = .signals
    case 4: self = .work
    case 5: self = .directory
    case 6: self = .processEnd
    case 7: self = .finger
    default:
      let place = Int(token % Self.places) - 8
      self = .connection(place: place, tenant: UInt32(truncatingIfNeeded: token / Self.places))
    }
  }

  var token: UInt64 {
    switch self {
    case .listener: 0
    case .deadline: 1
    case .wakeup: 2
    case .signals: 3
    case .work: 4
    case .directory: 5
    case .processEnd: 6
    case .finger: 7
    case .connection(let place, let tenant): UInt64(tenant) * Self.places + UInt64(place) + 8
    }
  }
}

/// Waits for descriptors to become ready: epoll(7).
@safe
final class Poller {
  private static let capacity = 64

  private let descriptor: Descriptor
  private let events: UnsafeMutablePointer<kura_event>

  init() throws(AgentError) {
    descriptor = try Descriptor("epoll_create1", kura_events_create())
    unsafe events = .allocate(capacity: Self.capacity)
    unsafe events.initialize(repeating: kura_event(), count: Self.capacity)
  }

  deinit { unsafe events.deallocate() }

  func add(_ fd: Int32, for interest: Readiness, as source: EventSource) throws(AgentError) {
    try check("epoll_ctl", kura_events_add(descriptor.raw, fd, interest.rawValue, source.token))
  }

  func change(_ fd: Int32, to interest: Readiness, as source: EventSource) throws(AgentError) {
    try check(
      "epoll_ctl", kura_events_change(descriptor.raw, fd, interest.rawValue, source.token))
  }

  func remove(_ fd: Int32) throws(AgentError) {
    try check("epoll_ctl", kura_events_remove(descriptor.raw, fd))
  }

  /// Waits until something is ready or the time is over.
  ///
  /// - Parameter milliseconds: Negative: for ever.
  /// - Returns: How many events there are, to be read with the subscript.
  func wait(milliseconds: Int64) throws(AgentError) -> Int {
    let count = unsafe kura_events_wait(
      descriptor.raw, events, Int32(Self.capacity), milliseconds)
    return Int(try check("epoll_wait", count))
  }

  subscript(index: Int) -> (source: EventSource, ready: Readiness) {
    precondition(index >= 0 && index < Self.capacity, "there are no more events")
    let event = unsafe events[index]
    return (EventSource(token: event.token), Readiness(rawValue: event.ready))
  }
}
