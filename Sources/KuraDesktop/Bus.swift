// SPDX-License-Identifier: MIT

internal import CSystemd
internal import Glibc

/// Tells why a bus did not do what was asked: an errno, and the error's name where the other side gave one.
struct BusError: Error, Equatable {
  let number: Int32
  var name = ""

  init(_ result: Int32, name: String = "") {
    number = -result
    self.name = name
  }

  /// Passes on what is no error.
  @discardableResult
  static func check(_ result: Int32) throws(BusError) -> Int32 {
    guard result >= 0 else { throw BusError(result) }
    return result
  }
}

/// Speaks on one of the two message buses, by sd-bus(3).
@safe
final class Bus {
  /// Tells the buses apart.
  enum Kind: Sendable {
    /// The machine's, with the login manager on it.
    case system
    /// The session's, with the screen saver on it.
    case session
  }

  /// Keeps what was said until somebody takes it.
  private final class Inbox {
    var signals: [Signal] = []
  }

  /// The longest that an answer on the bus is waited for, in µs, unless something else is said.
  private static let patience: UInt64 = 5_000_000

  /// How many messages are taken at once.
  private static let turn = 64

  private let bus: OpaquePointer
  private let inbox = Inbox()

  /// Connects.
  ///
  /// - Parameter patience: How long an answer is waited for, in µs.
  init(_ kind: Kind, patience: UInt64 = patience) throws(BusError) {
    var bus: OpaquePointer?
    let result =
      switch kind {
      case .system: unsafe sd_bus_open_system(&bus)
      case .session: unsafe sd_bus_open_user(&bus)
      }
    try BusError.check(result)
    guard let bus = unsafe bus else { throw BusError(-EIO) }
    unsafe self.bus = unsafe bus
    unsafe sd_bus_set_method_call_timeout(bus, patience)
  }

  deinit { unsafe sd_bus_close_unref(bus) }
}

// MARK: - Listening

extension Bus {
  /// Has the bus hand on the signals that a rule describes; ``process()`` gives them.
  func listen(_ rule: String) throws(BusError) {
    let context = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    try BusError.check(
      unsafe sd_bus_add_match(
        bus, nil, "type='signal'," + rule,
        { message, context, _ in
          guard let message = unsafe message, let context = unsafe context else { return 0 }
          let inbox = unsafe Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue()
          inbox.signals.append(unsafe BusMessage(borrowing: message).signal)
          return 0
        }, context))
  }

  /// Takes what came in since the last time, but no more at once than leaves time for the rest: then
  /// ``deadline`` is over.
  ///
  /// - Throws: When the bus is gone.
  func process() throws(BusError) -> [Signal] {
    for _ in 0..<Self.turn where try BusError.check(unsafe sd_bus_process(bus, nil)) == 0 { break }
    defer { inbox.signals = [] }
    return inbox.signals
  }

  /// The descriptor to watch.
  var descriptor: Int32 { unsafe sd_bus_get_fd(bus) }

  /// Whether it waits for room to send.
  var wantsToSend: Bool { unsafe sd_bus_get_events(bus) & POLLOUT != 0 }

  /// When to call ``process()`` at the latest, in ms of the monotonic clock; nil where only for what comes.
  var deadline: UInt64? {
    var time: UInt64 = .max
    guard unsafe sd_bus_get_timeout(bus, &time) > 0, time < .max else { return nil }
    return time / 1_000
  }
}

// MARK: - Asking

extension Bus {
  /// Who owns a name now, by the unique name; nil for nobody. Nobody is started for it.
  func owner(of name: String) throws(BusError) -> String? {
    do throws(BusError) {
      let reply = try call(
        Hearing.bus, "/org/freedesktop/DBus", Hearing.bus, "GetNameOwner", [.text(name)])
      return reply.text()
    } catch {
      guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
      return nil
    }
  }

  /// Calls a method, and waits for the answer.
  func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [BusArgument] = []
  ) throws(BusError) -> BusMessage {
    var made: OpaquePointer?
    try BusError.check(
      unsafe sd_bus_message_new_method_call(bus, &made, destination, path, interface, member))
    guard let made = unsafe made else { throw BusError(-ENOMEM) }
    let request = unsafe BusMessage(owning: made)
    for argument in arguments { try request.append(argument) }
    var fault = unsafe sd_bus_error()
    defer { unsafe sd_bus_error_free(&fault) }
    var reply: OpaquePointer?
    let result = unsafe sd_bus_call(bus, made, 0, &fault, &reply)
    guard result >= 0, let reply = unsafe reply else {
      let name = unsafe fault.name.map { unsafe String(cString: $0) }
      throw BusError(result < 0 ? result : -EIO, name: name ?? "")
    }
    return unsafe BusMessage(owning: reply)
  }

  /// Reads a property.
  func property(
    _ destination: String, _ path: String, _ interface: String, _ name: String
  ) throws(BusError) -> BusMessage {
    try call(
      destination, path, "org.freedesktop.DBus.Properties", "Get", [.text(interface), .text(name)])
  }
}
