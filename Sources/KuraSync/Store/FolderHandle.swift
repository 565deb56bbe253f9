// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraProtocol
internal import KuraStore

extension StoreError {
  /// What an error of the system means to who has a store at a path.
  init(errno: Int32, _ path: String) {
    switch errno {
    case ENOENT, ESTALE, ENODEV: self = .missing(path: path)
    case ENOTDIR, ELOOP: self = .notAFolder(path: path)
    case EROFS: self = .readOnly(path: path)
    case ENOSPC, EDQUOT, EFBIG: self = .full(path: path)
    case EACCES, EPERM: self = .denied(path: path)
    default: self = .system(errno: errno, path: path)
    }
  }
}

/// Holds a folder open, so that what is done there is done in this one, whatever its name leads to meanwhile.
final class FolderHandle {
  private static let folderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
  private let descriptor: Int32

  private init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Opens the folder at a path, a link to one among them.
  convenience init(at path: String) throws(StoreError) {
    let opened = unsafe open(path, FolderHandle.folderFlags)
    guard opened >= 0 else { throw StoreError(errno: errno, path) }
    self.init(owning: opened)
  }

  /// Makes a folder for its user alone where nothing stands; those above are there.
  static func make(_ path: String) throws(StoreError) {
    guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    throw StoreError(errno: errno, path)
  }

  /// Its permissions.
  var mode: mode_t {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status.st_mode & 0o7777 : 0o700
  }

  /// The folder of a name in it; nil where nothing has it.
  ///
  /// - Parameter path: What is told of where it went wrong.
  func folder(_ name: String, in path: String) throws(StoreError) -> FolderHandle? {
    let opened = unsafe openat(descriptor, name, FolderHandle.folderFlags | O_NOFOLLOW, 0)
    if opened >= 0 { return FolderHandle(owning: opened) }
    guard errno == ENOENT else { throw StoreError(errno: errno, path + "/" + name) }
    return nil
  }

  /// Makes one that lasts when this returns.
  func makeFolder(
    _ name: String, _ mode: mode_t, in path: String
  ) throws(StoreError) -> FolderHandle {
    guard unsafe mkdirat(descriptor, name, mode) == 0 || errno == EEXIST else {
      throw StoreError(errno: errno, path + "/" + name)
    }
    guard let made = try folder(name, in: path) else { throw .missing(path: path + "/" + name) }
    // A bit that hands the group on stays; where the file system has no permissions, it has none.
    _ = fchmod(made.descriptor, made.mode & 0o7000 | mode)
    try sync(in: path)
    return made
  }

  /// The names in it, in no order.
  ///
  /// - Parameter isHidden: Whether those that begin with a dot, and no others.
  func names(in path: String, isHidden: Bool = false) throws(StoreError) -> [String] {
    let own = unsafe openat(descriptor, ".", FolderHandle.folderFlags, 0)
    guard own >= 0, let stream = unsafe fdopendir(own) else {
      let failed = errno
      if own >= 0 { close(own) }
      throw StoreError(errno: failed, path)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasPrefix(".") == isHidden { names.append(name) }
      guard names.count <= ProtocolLimit.storeNames else { throw .crowded(path: path) }
    }
    guard errno == 0 else { throw StoreError(errno: errno, path) }
    return names
  }

  /// When a file was written last, or names in a folder changed, by the clock of who keeps it, in seconds; nil for none.
  func time(of name: String) -> Int? {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return status.st_mtim.tv_sec
  }

  /// How many bytes a regular file has; nil for none.
  func size(of name: String) -> Int? {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return Int(status.st_size)
  }

  /// Whether a regular file has a name.
  func isFile(_ name: String) -> Bool { size(of: name) != nil }

  /// What a file is told by: its size, and when it was changed, whatever else.
  func mark(of name: String) -> [UInt8] {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return [] }
    let (time, size) = (status.st_ctim, status.st_size)
    return Array(" \(size) \(status.st_ino) \(time.tv_sec) \(time.tv_nsec)\n".utf8)
  }

  /// All bytes of a regular file; nil where there is none, or it has more.
  func read(_ name: String, atMost most: Int, in path: String) throws(StoreError) -> [UInt8]? {
    // What is no regular file is opened without waiting for anybody.
    let opened = unsafe openat(
      descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0)
    guard opened >= 0 else {
      if [ENOENT, ELOOP, ENXIO, ENOTDIR].contains(errno) { return nil }
      throw StoreError(errno: errno, path + "/" + name)
    }
    let file = FolderFile(owning: opened)
    guard file.isRegular else { return nil }
    return try file.read(atMost: most, in: path + "/" + name)
  }

  /// Begins a file of a name that nothing has then.
  func create(_ name: String, _ mode: mode_t, in path: String) throws(StoreError) -> FolderFile {
    remove(name)
    let opened = unsafe openat(
      descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard opened >= 0 else { throw StoreError(errno: errno, path) }
    _ = fchmod(opened, mode)
    return FolderFile(owning: opened)
  }

  /// Puts a file in the place of another one, in one step.
  func rename(_ name: String, to new: String, in path: String) throws(StoreError) {
    guard unsafe renameat(descriptor, name, descriptor, new) == 0 else {
      throw StoreError(errno: errno, path)
    }
  }

  /// Takes a file away.
  func remove(_ name: String, in path: String) throws(StoreError) {
    guard unsafe unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
    throw StoreError(errno: errno, path)
  }

  /// Takes a file away that may be there.
  func remove(_ name: String) { _ = unsafe unlinkat(descriptor, name, 0) }

  /// Takes an empty folder away that may be there.
  func removeFolder(_ name: String) { _ = unsafe unlinkat(descriptor, name, AT_REMOVEDIR) }

  /// Makes the names in it last. Some file systems cannot, and keep them anyway.
  func sync(in path: String) throws(StoreError) {
    guard fsync(descriptor) != 0, errno != EINVAL else { return }
    throw StoreError(errno: errno, path)
  }
}

/// Holds a file open.
struct FolderFile: ~Copyable {
  let descriptor: Int32

  init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  var isRegular: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// All bytes up to the end; nil where there are more.
  func read(atMost most: Int, in path: String) throws(StoreError) -> [UInt8]? {
    var status = stat()
    let size = unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    // One byte more than it is to have, so that its end is seen.
    var room = max(0, min(size, most)) + 1
    while true {
      let bytes = try read(room, in: path)
      if bytes.count < room { return bytes }
      // It has grown since.
      guard bytes.count <= most else { return nil }
      room = min(2 * room, most) + 1
    }
  }

  /// The first bytes, as far as there are so many.
  private func read(_ most: Int, in path: String) throws(StoreError) -> [UInt8] {
    var failed: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: most) { room, count in
      while count < most {
        let rest = unsafe UnsafeMutableBufferPointer(rebasing: room[count...])
        let got = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(count))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failed = errno }
        guard got > 0 else { break }
        count += got
      }
    }
    guard failed == 0 else { throw StoreError(errno: failed, path) }
    return bytes
  }

  /// Writes all bytes.
  func write(_ bytes: [UInt8], in path: String) throws(StoreError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw StoreError(errno: count < 0 ? errno : ENOSPC, path) }
      done += count
    }
  }

  /// Has the disk begin to take what was written; whether it did is told by ``sync(in:)``.
  func beginSync() { kura_file_begin_sync(descriptor) }

  /// Makes what was written last.
  func sync(in path: String) throws(StoreError) {
    guard fsync(descriptor) != 0 else { return }
    throw StoreError(errno: errno, path)
  }
}
