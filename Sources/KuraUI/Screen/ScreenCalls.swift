// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Makes the screen's system calls that take or give memory.
enum ScreenCalls {
  /// Reads keys.
  static func read(_ descriptor: Int32, into room: inout MutableSpan<UInt8>) -> Int {
    unsafe room.withUnsafeMutableBytes { room in
      guard let start = room.baseAddress else { return 0 }
      return unsafe kura_screen_read(descriptor, start, room.count)
    }
  }

  /// Opens a file to read it, and no pipe that nobody writes to; or a negated errno.
  static func open(_ path: String) -> Int32 {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { return -errno }
    var facts = stat()
    if unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG {
      return descriptor
    }
    close(descriptor)
    return -EINVAL
  }

  /// Runs a program, and waits for its end.
  ///
  /// - Parameters:
  ///   - terminal: Where it works; -1: nowhere.
  ///   - output: Where its output goes; -1: to the terminal, too.
  ///   - hears: Whether what it says comes back.
  /// - Returns: Its status, and its last line.
  static func run(
    _ words: [String], terminal: Int32, output: Int32, hears: Bool
  ) -> (status: Int32, said: String) {
    var block: [CChar] = []
    for word in words { block += word.utf8.map { CChar(bitPattern: $0) } + [0] }
    let said: Int32 = hears ? kura_memory_file_create(3) : -1
    defer { if said >= 0 { close(said) } }
    let status = unsafe kura_screen_run(words[0], block, block.count, terminal, output, said)
    guard said >= 0 else { return (status, "") }
    var room = [UInt8](repeating: 0, count: 2_048)
    let count = unsafe pread(said, &room, room.count, 0)
    let lines = room.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n"))
    return (status, lines.first.map { String(decoding: $0, as: UTF8.self) } ?? "")
  }

  /// Has a terminal's settings mended where this program is killed.
  static func guardSettings(of terminal: Int32) { unsafe kura_screen_guard(terminal, "") }

  /// Writes a value.
  static func write(_ bytes: Span<UInt8>, to descriptor: Int32) {
    unsafe bytes.withUnsafeBytes {
      guard let start = $0.baseAddress else { return }
      unsafe kura_screen_write(descriptor, start, $0.count)
    }
  }

  /// Writes a line to standard output or standard error.
  static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    unsafe bytes.withUnsafeBytes {
      guard let start = $0.baseAddress else { return }
      unsafe kura_screen_write(descriptor, start, $0.count)
    }
  }
}
