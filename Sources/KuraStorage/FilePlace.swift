// SPDX-License-Identifier: MIT

internal import Glibc

/// Tells a file from every other, whatever path leads to it.
package struct FileIdentity: Hashable, Sendable {
  /// The device's number.
  package let device: UInt64
  /// The inode's number on that device.
  package let inode: UInt64
}

/// Says where a vault file stands, or is to stand: a directory without symbolic links, and a name in it.
///
/// The vault file itself is only ever opened by SQLite: closing another descriptor of it would drop
/// the POSIX locks that SQLite holds in the same process.
package struct FilePlace: Sendable {
  /// The directory, absolute and resolved.
  package let directory: String
  /// The file's name in it.
  package let name: String

  /// The file's path.
  package var path: String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }

  /// Resolves the directory of a path.
  ///
  /// - Parameters:
  ///   - path: Absolute.
  ///   - makingDirectory: Whether directories that are missing are made, with mode 0700.
  /// - Throws: ``StorageError/missing`` when there is no such directory.
  package static func resolve(
    _ path: String, makingDirectory: Bool = false
  ) throws(StorageError) -> FilePlace {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0),
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    else { throw .missing }
    let parent = slash == path.startIndex ? "/" : String(path[..<slash])
    let name = String(path[path.utf8.index(after: slash)...])
    guard !name.isEmpty, name != ".", name != ".." else { throw .missing }
    if makingDirectory { try makeDirectory(parent) }
    return FilePlace(directory: try resolveDirectory(parent), name: name)
  }

  /// The same place under another name.
  package func sibling(_ name: String) -> FilePlace { FilePlace(directory: directory, name: name) }

  private init(directory: String, name: String) {
    self.directory = directory
    self.name = name
  }

  /// Makes a directory and those above it, as `mkdir -p -m 700` does.
  package static func makeDirectory(_ path: String) throws(StorageError) {
    if unsafe mkdir(path, 0o700) == 0 { return }
    let reason = errno
    if reason == EEXIST { return }
    guard reason == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
      slash != path.startIndex
    else { throw StorageError(systemError: reason) }
    try makeDirectory(String(path[..<slash]))
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError(systemError: errno)
    }
  }

  private static func resolveDirectory(_ path: String) throws(StorageError) -> String {
    guard let resolved = unsafe realpath(path, nil) else { throw StorageError(systemError: errno) }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}

// MARK: - Who can get at it

extension FilePlace {
  /// Checks that nobody else can change what stands in the directory. Others may look around in it: what is
  /// private has a mode of its own.
  ///
  /// One that all may write and that keeps everybody's files, such as `/tmp`, is no exception: a WAL that
  /// somebody else put beside the vault would be written to.
  ///
  /// - Throws: ``StorageError/exposedDirectory(_:)``.
  package func checkDirectory() throws(StorageError) {
    var status = stat()
    guard unsafe stat(directory, &status) == 0 else { throw StorageError(systemError: errno) }
    if let exposure = Exposure(status, S_IFDIR, to: 0o022) { throw .exposedDirectory(exposure) }
  }

  /// Checks that the file belongs to this user alone.
  ///
  /// - Returns: Which file it is.
  /// - Throws: ``StorageError/missing``, ``StorageError/exposedFile(_:)``.
  @discardableResult
  package func checkFile() throws(StorageError) -> FileIdentity {
    let status = try fileStatus()
    if let exposure = Exposure(status, S_IFREG, to: 0o077) { throw .exposedFile(exposure) }
    return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Which file stands there now; it is not opened.
  ///
  /// - Throws: ``StorageError/missing``.
  package func identity() throws(StorageError) -> FileIdentity {
    let status = try fileStatus()
    return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Which file a link that stands there leads to, and else what stands there; nil where that is nothing.
  package var target: FileIdentity? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  private func fileStatus() throws(StorageError) -> stat {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw StorageError(systemError: errno) }
    return status
  }

  /// Whether this user may write the file, and make others beside it.
  package var isWritable: Bool {
    unsafe access(directory, W_OK) == 0 && access(path, W_OK) == 0
  }

  /// Whether a WAL stands there without its file: SQLite would play it into a new one.
  package var hasWAL: Bool {
    ["-wal", "-shm", "-journal"].contains { suffix in
      (try? sibling(name + suffix).identity()) != nil
    }
  }
}

extension Exposure {
  /// What rights others have to something.
  ///
  /// - Parameters:
  ///   - kind: What it has to be.
  ///   - rights: The permission bits that they may not have.
  init?(_ status: stat, _ kind: mode_t, to rights: mode_t) {
    let mode = status.st_mode & 0o7777
    if status.st_mode & S_IFMT != kind {
      self = .kind
    } else if status.st_uid != geteuid() {
      self = .owner
    } else if mode & rights != 0 {
      self = .mode(UInt16(mode))
    } else {
      return nil
    }
  }
}

// MARK: - New files

extension FilePlace {
  /// Makes an empty file that only this user can open.
  ///
  /// - Throws: ``StorageError/exists``.
  package func createFile() throws(StorageError) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    close(descriptor)
  }

  /// Gives a finished file of the same directory this name, unless the name is taken.
  ///
  /// - Parameter draft: The file; afterwards its own name is gone.
  /// - Throws: ``StorageError/exists``; nothing is ever overwritten.
  package func publish(_ draft: FilePlace) throws(StorageError) {
    if unsafe link(draft.path, path) == 0 {
      _ = unsafe unlink(draft.path)
    } else {
      switch errno {
      case EPERM, EOPNOTSUPP, ENOSYS, EMLINK: try replacePlaceholder(with: draft)
      default: throw StorageError(systemError: errno)
      }
    }
    try syncDirectory()
  }

  /// Where there are no hard links: take the name with an empty file first, then rename over it.
  private func replacePlaceholder(with draft: FilePlace) throws(StorageError) {
    try createFile()
    guard unsafe rename(draft.path, path) == 0 else {
      let reason = errno
      _ = unsafe unlink(path)
      throw StorageError(systemError: reason)
    }
  }

  /// Puts a finished file in the place of the one that stands here, if any.
  package func replace(with draft: FilePlace) throws(StorageError) {
    guard unsafe rename(draft.path, path) == 0 else { throw StorageError(systemError: errno) }
    try syncDirectory()
  }

  /// Removes the file and its WAL; what is not there needs no removing.
  package func remove() {
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = unsafe unlink(path + suffix) }
  }

  /// Makes a new or removed name last through a power cut.
  package func syncDirectory() throws(StorageError) {
    let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
  }
}
