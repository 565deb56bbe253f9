// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Waits for the buses, for time, and for a signal to end: epoll(7).
final class Waiting {
  private let events: Int32
  private let signals: Int32

  init() throws(BusError) {
    events = try BusError.check(kura_events_create())
    signals = try BusError.check(kura_signals_create())
    try BusError.check(kura_events_add(events, signals, UInt32(KURA_READABLE), 0))
  }

  deinit {
    kura_socket_close(events)
    kura_socket_close(signals)
  }

  /// The monotonic clock, in ms.
  static var now: UInt64 {
    var now = kura_moment()
    unsafe kura_moment_now(&now)
    return now.monotonic
  }

  /// Watches a bus that was just connected; its descriptor's end is forgotten by itself.
  func watch(_ bus: Bus?) {
    guard let bus else { return }
    _ = kura_events_add(events, bus.descriptor, UInt32(KURA_READABLE), 0)
  }

  /// Returns when something is there, or at a time of the monotonic clock.
  func wait(for buses: [Bus?], until deadline: UInt64?) {
    for case let bus? in buses {
      let interest = KURA_READABLE | (bus.wantsToSend ? KURA_WRITABLE : 0)
      _ = kura_events_change(events, bus.descriptor, UInt32(interest), 0)
    }
    let now = Self.now
    let left = deadline.map { $0 > now ? Int64(min($0 - now, 1 << 30)) : 0 } ?? -1
    var event = kura_event()
    _ = unsafe kura_events_wait(events, &event, 1, left)
  }

  /// Whether SIGTERM, SIGHUP or SIGINT came.
  func endSignal() -> Bool { kura_signals_next(signals) > 0 }
}
