// SPDX-License-Identifier: MIT

package import CKuraSystem

// A room for a command, and the way from it to the agent.

extension System {
  /// A pipe by which a room says that it stands.
  ///
  /// - Parameter taken: Numbers that its ends do not get.
  package static func roomPipe(besides taken: [Int32]) throws(FileError) -> (
    reading: Int32, writing: Int32
  ) {
    var ends: [2 of Int32] = [-1, -1]
    let failed = unsafe withUnsafeMutablePointer(to: &ends) { ends in
      unsafe ends.withMemoryRebound(to: Int32.self, capacity: 2) { ends in
        unsafe taken.withUnsafeBufferPointer {
          unsafe kura_room_pipe(ends, $0.baseAddress, $0.count)
        }
      }
    }
    try FileError.check(Int(failed))
    return (ends[0], ends[1])
  }

  /// Becomes bubblewrap.
  ///
  /// - Parameters:
  ///   - words: Its arguments, its own name first; ours from `first` on follow.
  ///   - kept: The descriptors that it gets.
  ///   - isApart: Whether stdin is closed to the room where it is a terminal.
  /// - Returns: Only when that fails: a negated errno.
  package static func enterRoom(
    _ program: String, _ words: [String], from first: Int, keeping kept: [Int32], isApart: Bool
  ) -> Int32 {
    let arguments = block(words)
    return unsafe kept.withUnsafeBufferPointer { kept in
      guard let start = kept.baseAddress else { return -EINVAL }
      return unsafe kura_room_enter(
        program, arguments, arguments.count, Int32(first), start, kept.count, isApart ? 1 : 0)
    }
  }

  /// What bubblewrap and the process beside it share, for the network of a room.
  ///
  /// - Parameter taken: Numbers that its ends do not get.
  package static func beginNetwork(besides taken: [Int32]) throws(FileError) -> kura_network {
    var network = kura_network()
    let failed = unsafe taken.withUnsafeBufferPointer {
      unsafe kura_network_begin(&network, $0.baseAddress, UInt($0.count))
    }
    try FileError.check(Int(failed))
    return network
  }

  /// Has a program carry the network of a room; its id, or a negated errno.
  package static func carryNetwork(
    _ network: inout kura_network, by program: String, _ kind: Int32, errors: Int32
  ) -> Int32 { unsafe kura_network_carry(&network, program, kind, errors) }

  /// Does in the room what comes before its command.
  package static func settleRoom(said: Int32, keeping kept: [Int32]) {
    unsafe kept.withUnsafeBufferPointer {
      unsafe kura_room_settle(said, $0.baseAddress, $0.count)
    }
  }

  /// The sockets below a directory at which a program listens.
  package static func sockets(below directory: String) -> [String] {
    var found: [String] = []
    unsafe withUnsafeMutablePointer(to: &found) { found in
      unsafe kura_room_visit_sockets(directory, found) { context, path in
        unsafe context.assumingMemoryBound(to: [String].self).pointee.append(String(cString: path))
      }
    }
    return found
  }
}

// MARK: - The way to the agent

extension System {
  /// Listens in a directory of its own below another.
  package static func listenForRoom(
    below parent: String
  ) throws(FileError) -> (socket: Int32, directory: String) {
    var path = [CChar](repeating: 0, count: Int(KURA_PATH_CAPACITY))
    let socket = unsafe kura_bridge_listen(parent, &path, path.count)
    try FileError.check(Int(socket))
    let bytes = path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return (socket, String(decoding: bytes, as: UTF8.self))
  }

  /// Removes such a directory.
  package static func removeForRoom(_ directory: String) { unsafe kura_bridge_remove(directory) }

  /// Goes on in a process of its own, too, where `process` is 0; both have an end of a pipe.
  ///
  /// - Parameter kept: What it has open, too.
  package static func partBridge(
    _ listener: Int32, keeping kept: [Int32]
  ) -> (process: Int32, end: Int32) {
    var end: Int32 = -1
    let process = unsafe kept.withUnsafeBufferPointer {
      unsafe kura_bridge_part(listener, $0.baseAddress, $0.count, &end)
    }
    return (process, end)
  }

  /// Waits for who connects, and carries bytes meanwhile; negative at the end.
  package static func awaitBridge(
    _ listener: Int32, _ end: Int32, through buffer: inout MutableSpan<UInt8>
  ) -> Int32 {
    unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return -EINVAL }
      return unsafe kura_bridge_await(listener, end, start, bytes.count)
    }
  }
}
