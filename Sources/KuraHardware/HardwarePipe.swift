// SPDX-License-Identifier: MIT

internal import Glibc
package import SecureMemory

/// Carries one message each way: its length, 2 bytes, and the message.
package enum HardwarePipe {
  /// Says something.
  ///
  /// - Returns: False where nobody takes it.
  package static func send(_ message: borrowing SecretBytes, to descriptor: Int32) -> Bool {
    let head = [UInt8(truncatingIfNeeded: message.count), UInt8(message.count >> 8)]
    let isSent = unsafe head.withUnsafeBytes { unsafe send($0, descriptor) }
    return unsafe isSent && message.withUnsafeBytes { unsafe send($0, descriptor) }
  }

  private static func send(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Hears something.
  ///
  /// - Parameter patience: How long nothing may be said, in milliseconds; -1 for ever.
  /// - Returns: Nil where nobody says anything any more, or more than anybody needs, or no memory is left.
  package static func receive(from descriptor: Int32, patience: Int32 = -1) -> SecretBytes? {
    guard let head = read(2, descriptor, patience) else { return nil }
    let count = Int(head.bytes[0]) | Int(head.bytes[1]) << 8
    guard (1...HardwareWords.longest).contains(count) else { return nil }
    return read(count, descriptor, patience)
  }

  private static func read(_ count: Int, _ descriptor: Int32, _ patience: Int32) -> SecretBytes? {
    guard var bytes = try? SecretBytes(count: count) else { return nil }
    var done = 0
    while done < count {
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&event, 1, patience)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return nil }
      let more = unsafe bytes.withUnsafeMutableBytes { room in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[done...])
        return unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
      }
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { return nil }
      done += more
    }
    return bytes
  }
}
