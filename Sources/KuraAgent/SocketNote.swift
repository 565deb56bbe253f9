// SPDX-License-Identifier: MIT

internal import Glibc

/// Tells clients with another environment where the agent of a state directory listens, by a symbolic link there,
/// and keeps a second agent away as long as this value lives.
struct SocketNote: ~Copyable {
  private let path: String
  /// The state directory, locked; nil where it cannot be opened.
  private let lock: Descriptor?

  /// Becomes the agent of a state directory, which is made when it is missing.
  ///
  /// - Throws: ``AgentError/alreadyRunning`` when it has one, wherever that listens.
  init(in state: String) throws(AgentError) {
    makeDirectories(state)
    path = Self.path(in: state)
    let descriptor = unsafe open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    lock = descriptor >= 0 ? Descriptor(owning: descriptor) : nil
    guard descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
      throw .alreadyRunning
    }
  }

  /// Notes where this agent listens. Where that cannot be noted, it is found at the usual places.
  func write(_ socket: String) {
    let new = path + ".new"
    _ = unsafe Glibc.unlink(new)
    if unsafe symlink(socket, new) == 0 { _ = unsafe rename(new, path) }
  }

  /// Removes the note at the agent's end.
  func unlink() { _ = unsafe Glibc.unlink(path) }

  /// Where the last agent of a state directory listened; nil when that is not known.
  static func place(in state: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      guard let start = room.baseAddress else { return 0 }
      return unsafe readlink(path(in: state), start, room.count)
    }
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  private static func path(in state: String) -> String { state + "/agent" }
}
