// SPDX-License-Identifier: MIT

internal import CSystemd
internal import Glibc
internal import SecureMemory

/// Holds what a method is called with.
enum BusArgument {
  case text(String)
  case path(String)
  case number(UInt32)
  /// A text in a variant.
  case variant(String)
}

/// Reads and writes one message, value after value.
@safe
final class BusMessage {
  private let message: OpaquePointer

  /// Takes over a message.
  init(owning message: OpaquePointer) { unsafe self.message = unsafe message }

  /// Holds on to a message of somebody else's.
  init(borrowing message: OpaquePointer) {
    unsafe self.message = unsafe sd_bus_message_ref(message)
  }

  deinit { unsafe sd_bus_message_unref(message) }

  /// Writes a value.
  func append(_ argument: BusArgument) throws(BusError) {
    switch argument {
    case .text(let text):
      try BusError.check(unsafe sd_bus_message_append_basic(message, Self.string, text))
    case .path(let path):
      let type = CChar(bitPattern: UInt8(ascii: "o"))
      try BusError.check(unsafe sd_bus_message_append_basic(message, type, path))
    case .variant(let text):
      let type = CChar(bitPattern: UInt8(ascii: "v"))
      try BusError.check(unsafe sd_bus_message_open_container(message, type, "s"))
      try append(.text(text))
      try BusError.check(unsafe sd_bus_message_close_container(message))
    case .number(var number):
      try BusError.check(unsafe sd_bus_message_append_basic(message, Self.unsigned, &number))
    }
  }

  private static let string = CChar(bitPattern: UInt8(ascii: "s"))
  private static let unsigned = CChar(bitPattern: UInt8(ascii: "u"))
}

// MARK: - Reading

extension BusMessage {
  /// The next value, where it is a text, a path or a signature; nil for anything else.
  func text() -> String? {
    let type = peek()
    guard type == UInt8(ascii: "s") || type == UInt8(ascii: "o") else { return nil }
    var text: UnsafePointer<CChar>?
    let isRead =
      unsafe sd_bus_message_read_basic(message, CChar(bitPattern: type), &text) > 0
    guard isRead, let text = unsafe text else { return nil }
    return unsafe String(cString: text)
  }

  /// The next value, where it is a Boolean.
  func flag() -> Bool? {
    guard peek() == UInt8(ascii: "b") else { return nil }
    var flag: Int32 = 0
    let type = CChar(bitPattern: UInt8(ascii: "b"))
    return unsafe sd_bus_message_read_basic(message, type, &flag) > 0 ? flag != 0 : nil
  }

  /// The next value, where it is a number of 32 bits without a sign.
  func unsigned() -> UInt32? {
    guard peek() == UInt8(ascii: "u") else { return nil }
    var number: UInt32 = 0
    return unsafe sd_bus_message_read_basic(message, Self.unsigned, &number) > 0 ? number : nil
  }

  /// The texts or paths of the next value, an array of them; none where it is something else.
  func texts() -> [String] {
    guard enter() else { return [] }
    defer { leave() }
    var texts: [String] = []
    while let next = text() { texts.append(next) }
    return texts
  }

  /// The next value, where it is a number of 64 bits without a sign.
  func number() -> UInt64? {
    guard peek() == UInt8(ascii: "t") else { return nil }
    var number: UInt64 = 0
    let type = CChar(bitPattern: UInt8(ascii: "t"))
    return unsafe sd_bus_message_read_basic(message, type, &number) > 0 ? number : nil
  }

  /// Appends the next value to a buffer, where it is an array of bytes; false for anything else.
  func bytes(into buffer: inout SecretBuffer) throws(SecureMemoryError) -> Bool {
    var (start, count): (UnsafeRawPointer?, Int) = (nil, 0)
    let type = CChar(bitPattern: UInt8(ascii: "y"))
    guard unsafe sd_bus_message_read_array(message, type, &start, &count) > 0 else { return false }
    guard let start = unsafe start, count > 0 else { return true }
    let bytes = unsafe Span<UInt8>(_unsafeStart: start, byteCount: count)
    try buffer.append(bytes)
    return true
  }

  /// Has the message wiped when it goes: there is a secret in it.
  func wipesItself() { unsafe sd_bus_message_sensitive(message) }

  /// A descriptor of our own, close-on-exec, of the next value; nil where that is none.
  func descriptor() -> Int32? {
    guard peek() == UInt8(ascii: "h") else { return nil }
    var descriptor: Int32 = -1
    let type = CChar(bitPattern: UInt8(ascii: "h"))
    guard unsafe sd_bus_message_read_basic(message, type, &descriptor) > 0 else { return nil }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    return copy >= 0 ? copy : nil
  }

  /// Reads what is inside of the next value, a container; false where it is none, or an array's end.
  func enter() -> Bool { unsafe sd_bus_message_enter_container(message, 0, nil) > 0 }

  /// Goes on behind the container.
  func leave() {
    while peek() != 0, unsafe sd_bus_message_skip(message, nil) > 0 {}
    unsafe sd_bus_message_exit_container(message)
  }

  /// Passes over the next value.
  func skip() { unsafe sd_bus_message_skip(message, nil) }

  /// The type of the next value; 0 at the end.
  private func peek() -> UInt8 {
    var type: CChar = 0
    guard unsafe sd_bus_message_peek_type(message, &type, nil) > 0 else { return 0 }
    return UInt8(bitPattern: type)
  }
}

// MARK: - Signals

extension BusMessage {
  /// What this signal says.
  var signal: Signal {
    Signal(
      sender: unsafe Self.text(sd_bus_message_get_sender(message)),
      path: unsafe Self.text(sd_bus_message_get_path(message)),
      interface: unsafe Self.text(sd_bus_message_get_interface(message)),
      member: unsafe Self.text(sd_bus_message_get_member(message)), content: content,
      serial: serial)
  }

  /// Its number among all that its sender has sent; 0 where it has none.
  var serial: UInt64 {
    var serial: UInt64 = 0
    return unsafe sd_bus_message_get_cookie(message, &serial) >= 0 ? serial : 0
  }

  private static func text(_ text: UnsafePointer<CChar>?) -> String {
    unsafe text.map { unsafe String(cString: $0) } ?? ""
  }

  private var content: Signal.Content {
    switch unsafe Self.text(sd_bus_message_get_signature(message, 1)) {
    case "b": return flag().map { .flag($0) } ?? .nothing
    case "so", "sss":
      var texts: [String] = []
      while let next = text() { texts.append(next) }
      return .texts(texts)
    case "sb":
      guard let word = text(), let isOver = flag() else { return .nothing }
      return .status(word, isOver: isOver)
    case "sa{sv}as": return .lockedHint(lockedHint())
    default: return .nothing
    }
  }

  /// Whether a session's screen is locked, of its properties that changed.
  private func lockedHint() -> Bool? {
    guard text() == "org.freedesktop.login1.Session", enter() else { return nil }
    var hint: Bool?
    while enter() {
      if text() == "LockedHint", enter() {
        hint = flag()
        leave()
      }
      leave()
    }
    leave()
    return hint
  }
}
