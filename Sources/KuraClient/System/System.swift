// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Makes the client's system calls that take or give memory, so that the rest of the client handles none.
///
/// A function here has the name and the answer of the C function of `CKuraSystem` that it calls, and that
/// one's comment tells of both. Calls of numbers alone need no such room and are made where they are needed.
package enum System {}

// MARK: - Streams

extension System {
  /// Reads some bytes of a file or a pipe.
  package static func read(_ descriptor: Int32, into room: inout MutableSpan<UInt8>) -> Int {
    unsafe fill(&room) { unsafe kura_file_read(descriptor, $0, $1) }
  }

  /// Writes all bytes to a file or a pipe.
  static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> Int {
    unsafe lend(bytes) { unsafe Int(kura_file_write(descriptor, $0, $1)) }
  }

  /// Sends some of the bytes.
  package static func send(
    _ bytes: Span<UInt8>, to descriptor: Int32, patience: Int32
  ) -> Int {
    unsafe lend(bytes) { unsafe kura_socket_send(descriptor, $0, $1, patience) }
  }

  /// Sends some of a connection's first bytes.
  static func sendFirst(_ bytes: Span<UInt8>, to descriptor: Int32, patience: Int32) -> Int {
    unsafe lend(bytes) { unsafe kura_socket_send_first(descriptor, $0, $1, patience) }
  }

  /// Receives some bytes from a socket.
  static func receive(
    _ descriptor: Int32, into room: inout MutableSpan<UInt8>, patience: Int32
  ) -> Int {
    unsafe fill(&room) { unsafe kura_socket_receive(descriptor, $0, $1, patience) }
  }

  /// Waits for bytes of a pipe.
  package static func readPipe(
    _ descriptor: Int32, into room: inout MutableSpan<UInt8>, patience: Int32
  ) -> Int {
    unsafe fill(&room) { unsafe kura_pipe_read(descriptor, $0, $1, patience) }
  }

  /// Waits for words of a program that was started to answer.
  package static func readAsked(
    _ descriptor: Int32, into room: inout MutableSpan<UInt8>, patience: Int32, other: Int32
  ) -> Int {
    unsafe fill(&room) { unsafe kura_asked_read(descriptor, $0, $1, patience, other) }
  }

  /// Hears such a program to its end, in guarded memory.
  ///
  /// - Parameters:
  ///   - patience: The longest it may be silent, in ms.
  ///   - body: Is given the words as they come; they are wiped afterwards.
  /// - Returns: False when it said nothing for too long.
  package static func hear(
    _ descriptor: Int32, patience: Int32, _ body: (Span<UInt8>) -> Void
  ) -> Bool {
    let room = 4_096
    // A SecretBytes cannot end in Embedded Swift where an error is swallowed.
    guard let heard = unsafe kura_secret_allocate(room) else { return false }
    defer { unsafe kura_secret_free(heard, room) }
    while true {
      let count = unsafe kura_asked_read(descriptor, heard, room, patience, -1)
      guard count > 0 else { return count == 0 }
      let bytes = unsafe UnsafeRawBufferPointer(start: heard, count: count)
      unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe body($0.span) }
    }
  }

  /// Waits for keys at the terminal.
  package static func readTerminal(
    into room: inout MutableSpan<UInt8>, patience: Int32, other: Int32
  ) -> Int {
    unsafe fill(&room) { unsafe kura_terminal_read($0, $1, patience, other) }
  }

  /// Fills memory from the kernel's random source.
  package static func random(into room: inout MutableSpan<UInt8>) -> Int32 {
    unsafe Int32(fill(&room) { unsafe Int(kura_random($0, $1)) })
  }

  /// Lends memory to a call that reads it; 0 without one where there are no bytes.
  private static func lend(
    _ bytes: Span<UInt8>, to call: (UnsafeRawPointer, Int) -> Int
  ) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe call(start, bytes.count)
    }
  }

  /// Lends memory to a call that writes it; 0 without one where there is no room.
  private static func fill(
    _ room: inout MutableSpan<UInt8>, by call: (UnsafeMutableRawPointer, Int) -> Int
  ) -> Int {
    unsafe room.withUnsafeMutableBytes { room in
      guard let start = room.baseAddress else { return 0 }
      return unsafe call(start, room.count)
    }
  }
}
