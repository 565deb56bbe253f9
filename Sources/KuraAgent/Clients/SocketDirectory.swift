// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Holds the directory open that the agent's socket stands in, and that is ours alone.
struct SocketDirectory: ~Copyable {
  let path: String
  private let descriptor: Descriptor

  /// Opens the directory, which must be 0700, ours and no symbolic link; makes it when missing.
  init(path: String) throws(AgentError) {
    makeDirectories(path)
    let result = unsafe kura_server_directory(path)
    switch -result {
    case EPERM, ELOOP, ENOTDIR: throw .directoryUnsafe(path: path)
    default: descriptor = try Descriptor("open \(path)", result)
    }
    self.path = path
  }

  /// Tells when a name in the directory appears or goes, or the directory itself does.
  func watch() throws(AgentError) -> Descriptor {
    try Descriptor("inotify_add_watch", kura_directory_watch(descriptor.raw))
  }
}

// MARK: - The socket

/// Holds the right to be the agent of a directory, and the socket that clients connect to.
struct Listener: ~Copyable {
  let directory: SocketDirectory
  let socket: Descriptor
  private let lock: Descriptor
  private let note: SocketNote?
  private let device: UInt64
  private let inode: UInt64

  /// Becomes the agent of a directory: takes its lock, sees that nobody listens, and listens.
  ///
  /// A socket that a killed agent left behind is replaced.
  ///
  /// - Throws: ``AgentError/alreadyRunning`` when another agent answers or is about to.
  static func open(
    in directory: consuming SocketDirectory, unlessAt others: [String] = [], of state: String? = nil
  ) throws(AgentError) -> Listener {
    let lock = try Self.lock(directory)
    let note: SocketNote? = if let state { try SocketNote(in: state) } else { nil }
    // Behind the lock: of two that start at once, one sees the other.
    guard !others.contains(where: SocketDirectory.isTaken) else { throw .alreadyRunning }
    let probe = kura_server_probe(directory.raw)
    guard try check("connect", probe) == 0 else { throw .alreadyRunning }
    let socket = try Descriptor("bind", kura_server_listen(directory.raw))
    let (device, inode) = try directory.identity()
    note?.write(directory.path)
    return Listener(
      directory: directory, socket: socket, lock: lock, note: note, device: device, inode: inode)
  }

  private init(
    directory: consuming SocketDirectory, socket: consuming Descriptor,
    lock: consuming Descriptor, note: consuming SocketNote?, device: UInt64, inode: UInt64
  ) {
    self.directory = directory
    self.socket = socket
    self.lock = lock
    self.note = note
    self.device = device
    self.inode = inode
  }

  private static func lock(
    _ directory: borrowing SocketDirectory
  ) throws(AgentError) -> Descriptor {
    let result = kura_server_lock(directory.raw)
    if result == -EWOULDBLOCK { throw .alreadyRunning }
    return try Descriptor("flock", result)
  }

  /// Whether clients that follow the path still reach this socket.
  var isInPlace: Bool {
    guard let (device, inode) = try? directory.identity() else { return false }
    return device == self.device && inode == self.inode && directory.isInPlace
  }

  /// Removes the socket's name, unless it is another's by now, and the note of it.
  func unlink() {
    if isInPlace { _ = kura_server_unlink(directory.raw) }
    note?.unlink()
  }
}

extension SocketDirectory {
  var raw: Int32 { descriptor.raw }

  /// Whether somebody listens in a directory, which is not made for that.
  static func isServed(_ path: String) -> Bool {
    let directory = unsafe kura_server_directory(path)
    guard directory >= 0 else { return false }
    defer { close(directory) }
    return kura_server_probe(directory) == 1
  }

  /// Whether somebody listens there, or is about to.
  static func isTaken(_ path: String) -> Bool {
    let directory = unsafe kura_server_directory(path)
    guard directory >= 0 else { return false }
    defer { close(directory) }
    let lock = kura_server_lock(directory)
    if lock >= 0 { close(lock) }
    return lock == -EWOULDBLOCK || kura_server_probe(directory) == 1
  }

  var isInPlace: Bool { unsafe kura_server_is_at(raw, path) == 1 }

  func identity() throws(AgentError) -> (device: UInt64, inode: UInt64) {
    var device: UInt64 = 0
    var inode: UInt64 = 0
    try check("fstatat", unsafe kura_server_identity(raw, &device, &inode))
    return (device, inode)
  }
}

/// Makes a directory and those it stands in, 0700; what cannot be made is noticed at the opening.
func makeDirectories(_ path: String) {
  guard unsafe mkdir(path, 0o700) != 0, errno == ENOENT else { return }
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
    return
  }
  makeDirectories(String(path[..<slash]))
  _ = unsafe mkdir(path, 0o700)
}
