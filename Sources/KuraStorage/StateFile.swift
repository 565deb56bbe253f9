// SPDX-License-Identifier: MIT

internal import Glibc

/// Reads and writes a small file of this machine's state, held under a lock as long as this value lives.
package struct StateFile: ~Copyable, Sendable {
  private let descriptor: Int32

  /// Says who else may hold the file at the same time.
  package enum Lock: Sendable {
    /// Others that share it.
    case shared
    /// Nobody.
    case exclusive
  }

  deinit {
    // A child that another thread is just starting has the file open, and its lock with it.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Opens and locks a file.
  ///
  /// - Parameters:
  ///   - place: Where it stands; the directory exists.
  ///   - lock: Who else may hold it.
  ///   - creating: Whether it is made, with mode 0600, when it is missing.
  ///   - patience: Milliseconds to wait for the lock.
  /// - Throws: ``StorageError/missing``; ``StorageError/exposedFile(_:)`` for what is no file, or another
  ///   user's; ``StorageError/busy`` when somebody keeps the lock.
  package static func open(
    _ place: FilePlace, lock: Lock, creating: Bool, patience: Int = 0
  ) throws(StorageError) -> StateFile {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (creating ? O_CREAT : 0)
    let file = try open(place, flags)
    let descriptor = file.descriptor
    let operation = (lock == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    for tries in 0... {
      if flock(descriptor, operation) == 0 { break }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw StorageError(systemError: errno)
      }
      guard tries < patience else { throw .busy }
      usleep(1000)
    }
    return file
  }

  /// Opens a file for reading, without its lock.
  ///
  /// - Throws: ``StorageError/missing``.
  package static func reading(_ place: FilePlace) throws(StorageError) -> StateFile {
    try open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Opens what stands there, which may keep nobody waiting, and is looked at before anything is read from it.
  private static func open(_ place: FilePlace, _ flags: Int32) throws(StorageError) -> StateFile {
    let descriptor = unsafe Glibc.open(place.path, flags, 0o600)
    guard descriptor >= 0 else {
      // A link, a directory, a socket.
      let isNoFile = [ELOOP, EISDIR, ENXIO].contains(errno)
      throw isNoFile ? .exposedFile(.kind) : StorageError(systemError: errno)
    }
    let file = StateFile(descriptor: descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw StorageError(systemError: errno) }
    if let exposure = Exposure(status, S_IFREG, to: 0o022) { throw .exposedFile(exposure) }
    return file
  }

  /// Reads a file from the start without waiting for its lock; what is being written may come torn.
  ///
  /// - Parameters:
  ///   - place: Where it stands.
  ///   - limit: How many bytes at most.
  /// - Throws: ``StorageError/missing``.
  package static func peek(_ place: FilePlace, _ limit: Int) throws(StorageError) -> [UInt8] {
    let file = try reading(place)
    return try file.read(limit)
  }

  /// Reads from the start.
  ///
  /// - Parameter limit: How many bytes at most.
  /// - Returns: What there is, which may be less.
  package borrowing func read(_ limit: Int) throws(StorageError) -> [UInt8] {
    try bytes(at: 0, count: limit)
  }

  /// Writes in place and waits for the disk.
  ///
  /// - Parameters:
  ///   - bytes: What to write.
  ///   - offset: Where the first one goes.
  ///   - length: The length that the file is to have; only grown to it.
  package borrowing func write(
    _ bytes: Span<UInt8>, at offset: Int, length: Int
  ) throws(StorageError) {
    try put(bytes, at: offset)
    if try byteCount() < length { try cut(to: length) }
    try sync()
  }
}

// MARK: - Files that grow

extension StateFile {
  /// The file's length, in bytes.
  package borrowing func byteCount() throws(StorageError) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw StorageError(systemError: errno) }
    return Int(status.st_size)
  }

  /// Whether the path still names the file.
  package borrowing func isStill(at place: FilePlace) -> Bool {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return false }
    let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    return (try? place.identity()) == identity
  }

  /// Reads a part of the file.
  ///
  /// - Returns: What there is of it.
  package borrowing func bytes(
    at offset: Int, count wanted: Int
  ) throws(StorageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: wanted)
    var count = 0
    while count < wanted {
      let part = unsafe bytes.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return 0 }
        return unsafe pread(descriptor, start + count, wanted - count, off_t(offset + count))
      }
      if part < 0 && errno == EINTR { continue }
      guard part >= 0 else { throw StorageError(systemError: errno) }
      if part == 0 { break }
      count += part
    }
    bytes.removeLast(wanted - count)
    return bytes
  }

  /// Writes in place; ``sync()`` waits for the disk.
  package borrowing func put(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError) {
    var count = 0
    while count < bytes.count {
      let part = unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return 0 }
        return unsafe pwrite(
          descriptor, start + count, bytes.count - count, off_t(offset + count))
      }
      if part < 0 && errno == EINTR { continue }
      guard part > 0 else { throw StorageError(systemError: part < 0 ? errno : EIO) }
      count += part
    }
  }

  /// Gives the file another length.
  package borrowing func cut(to length: Int) throws(StorageError) {
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw StorageError(systemError: errno) }
  }

  /// Waits until what was written is on the disk.
  package borrowing func sync() throws(StorageError) {
    guard fdatasync(descriptor) == 0 else { throw StorageError(systemError: errno) }
  }
}
