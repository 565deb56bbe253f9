// SPDX-License-Identifier: MIT

import Foundation

/// A terminal window of 24 lines of 80, seen from its other side.
///
/// Not shared between threads: whoever waits reads.
final class PseudoTerminal {
  /// The device that a program in the window opens.
  let name: String
  /// What stands in the window.
  private(set) var screen = Screen()
  /// The settings that a program found.
  private let original: termios
  private var master: Int32
  /// Kept open, so that the settings outlive the programs.
  private let slave: Int32
  /// How much of the screen's text has been looked at.
  private var seen = 0

  init() throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var unlock: Int32 = 0
    var number: UInt32 = 0
    // TIOCSPTLCK and TIOCGPTN: macros that are not imported.
    guard master >= 0, ioctl(master, 0x4004_5431, &unlock) == 0,
      ioctl(master, 0x8004_5430, &number) == 0
    else { throw StoryFailure(message: "no pseudo terminal is to be had: errno \(errno)") }
    name = "/dev/pts/\(number)"
    slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    original = settings(of: slave)
  }

  deinit {
    close()
    Glibc.close(slave)
  }

  /// Closes the window: the kernel hangs up on its programs.
  func close() {
    if master >= 0 { Glibc.close(master) }
    master = -1
  }

  /// Whether the terminal shows what is typed.
  var isEchoing: Bool { settings(of: slave).c_lflag & tcflag_t(ECHO) != 0 }

  /// What is set otherwise than a program found it; nothing in a closed window.
  var changedSettings: [String] {
    guard master >= 0 else { return [] }
    let now = settings(of: slave)
    var names: [String] = []
    if now.c_iflag != original.c_iflag { names.append("input modes") }
    if now.c_oflag != original.c_oflag { names.append("output modes") }
    if now.c_cflag != original.c_cflag { names.append("control modes") }
    if now.c_lflag != original.c_lflag { names.append("local modes (echo, lines, signals)") }
    var before = original.c_cc
    var after = now.c_cc
    let count = MemoryLayout.size(ofValue: before)
    if memcmp(&before, &after, count) != 0 { names.append("control characters") }
    return names
  }

  func type(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until something holds of what is read, with everything read that there is.
  func wait(until deadline: ContinuousClock.Instant, _ holds: (PseudoTerminal) -> Bool) -> Bool {
    while true {
      drain(milliseconds: 0)
      if holds(self) { return true }
      guard ContinuousClock.now < deadline else { return false }
      drain(milliseconds: 10)
    }
  }

  /// Reads what there is, after waiting at most that long for a first byte.
  func drain(milliseconds: Int32) {
    guard master >= 0 else {
      usleep(UInt32(milliseconds) * 1000)
      return
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    var patience = milliseconds
    while true {
      var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, patience) == 1 else { return }
      let count = read(master, &buffer, buffer.count)
      guard count > 0 else { return }
      screen.show(buffer[..<count])
      patience = 0
    }
  }

  /// Whether the text has appeared since the last look; then it is passed over.
  func passes(_ text: String) -> Bool {
    let unseen = screen.text.utf8.dropFirst(seen)
    guard let found = Substring(unseen).range(of: text) else { return false }
    seen = screen.text.utf8.distance(from: screen.text.startIndex, to: found.upperBound)
    return true
  }
}

private func settings(of descriptor: Int32) -> termios {
  var settings = termios()
  tcgetattr(descriptor, &settings)
  return settings
}
