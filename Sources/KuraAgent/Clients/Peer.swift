// SPDX-License-Identifier: MIT

internal import Glibc

/// Tells the access log who is at the other end of a connection. A hint: whoever runs as the user can call a
/// program what they like.
struct Peer: Equatable, Sendable {
  let process: UInt32
  private(set) var parent: UInt32 = 0
  /// The path of the program, or what the process calls itself where the path is not to be had, as of a
  /// program that nobody may trace.
  private(set) var program: [UInt8] = []
  private(set) var parentProgram: [UInt8] = []
  /// `pts/3`, `tty1`, or the numbers of another device; empty for none.
  private(set) var terminal: [UInt8] = []

  /// Looks a process up that is alive, since it waits for an answer.
  init(process: Int32) {
    self.process = UInt32(clamping: process)
    guard process > 0, let own = Status(of: self.process) else { return }
    parent = own.parent
    terminal = own.terminal
    program = Peer.path(of: self.process) ?? own.name
    guard parent > 0 else { return }
    parentProgram = Peer.path(of: parent) ?? Status(of: parent)?.name ?? []
  }

  static func path(of process: UInt32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = unsafe bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return -1 }
      return unsafe readlink(
        "/proc/\(process)/exe", start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  /// The fields of `/proc/PID/stat` (proc(5)) that are of interest.
  private struct Status {
    let name: [UInt8]
    let parent: UInt32
    let terminal: [UInt8]

    init?(of process: UInt32) {
      let descriptor = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 512)
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe read(descriptor, bytes.baseAddress, bytes.count)
      }
      bytes = Array(bytes.prefix(max(count, 0)))
      // The name may hold anything, brackets and spaces, too.
      guard let first = bytes.firstIndex(of: UInt8(ascii: "(")),
        let last = bytes.lastIndex(of: UInt8(ascii: ")")), first < last
      else { return nil }
      name = Array(bytes[(first + 1)..<last])
      let fields = bytes[(last + 1)...].split(separator: UInt8(ascii: " "))
      guard fields.count > 4 else { return nil }
      parent = UInt32(String(decoding: fields[1], as: UTF8.self)) ?? 0
      let device = Int32(String(decoding: fields[4], as: UTF8.self)) ?? 0
      terminal = Peer.terminal(UInt32(bitPattern: device))
    }
  }

  /// The name of a terminal by its device number, as the kernel packs it.
  static func terminal(_ device: UInt32) -> [UInt8] {
    let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xF_FF00)
    let name =
      switch (major, minor) {
      case (0, 0): ""
      case (136...143, _): "pts/\((major - 136) << 20 + minor)"
      case (4, 0...63): "tty\(minor)"
      case (4, _): "ttyS\(minor - 64)"
      case (5, 1): "console"
      default: "\(major):\(minor)"
      }
    return Array(name.utf8)
  }
}
