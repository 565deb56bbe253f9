// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Asks at the terminal for the password that an export was made with, and shows nothing of what is typed.
struct PasswordQuestion: ~Copyable {
  /// The longest password, in bytes.
  static let longest = 4_096

  private let terminal: Int32

  /// Nil where there is no terminal, or it is not ours now.
  init?() {
    terminal = kura_terminal_open()
    guard terminal >= 0, kura_terminal_is_foreground(terminal) else { return nil }
  }

  deinit { if terminal >= 0 { Descriptor.close(terminal) } }

  /// Asks for one line.
  func ask(_ label: String) throws(ImportFailure) -> [UInt8] {
    var keys = kura_terminal_keys()
    guard unsafe kura_terminal_begin(terminal, &keys) == 0 else { throw Self.lost }
    defer { kura_terminal_end() }
    show(label)
    defer { show("\r\n") }
    var typed: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 256)
    while true {
      var span = room.mutableSpan
      let count = System.readTerminal(into: &span, patience: -1, other: -1)
      if count == KURA_TERMINAL_CONTINUED {
        show(label)
        continue
      }
      guard count > 0 else { throw Self.lost }
      for byte in room[..<count] where try Self.isDone(byte, keys, &typed) { return typed }
    }
  }

  private static let lost = ImportFailure(
    .failure, "the terminal is gone", hint: "nothing was changed")

  /// Takes a key; whether the line is done.
  private static func isDone(
    _ byte: UInt8, _ keys: kura_terminal_keys, _ typed: inout [UInt8]
  ) throws(ImportFailure) -> Bool {
    switch byte {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): return !typed.isEmpty
    case 0: break
    case keys.interrupt, keys.quit:
      throw ImportFailure(.interrupted, "interrupted", hint: "nothing was changed")
    case keys.end_of_file:
      if typed.isEmpty {
        throw ImportFailure(.cancelled, "no password was given", hint: "nothing was changed")
      }
    case keys.suspend: kura_terminal_suspend()
    case keys.kill: typed.removeAll()
    case keys.erase, 0x08, 0x7F:
      // A character may be several bytes.
      while let last = typed.popLast(), last & 0xC0 == 0x80 {}
    default: if typed.count < longest { typed.append(byte) }
    }
    return false
  }

  private func show(_ text: String) {
    do throws(FileError) { try Descriptor.write(text.utf8.span, to: terminal) } catch {
      // The next read says that the window is gone.
      return
    }
  }
}
