// SPDX-License-Identifier: MIT

internal import Glibc

/// Holds a file that is being written in the directory where it is to stand, under a name that nobody looks
/// for. Dropping it removes it, unless it was given another name; what a kill leaves goes with the next one.
package final class FileDraft: Sendable {
  /// How the names of all of them begin.
  package static let prefix = ".kura-backup-"

  /// What SQLite keeps beside one that is written to as a vault.
  private static let companions = ["-wal", "-shm", "-journal"]

  /// Where it stands.
  package let place: FilePlace
  let descriptor: Int32

  deinit {
    for name in [""] + Self.companions { _ = unsafe unlink(place.path + name) }
    close(descriptor)
  }

  /// Whether somebody took its name away, with or without the directory.
  package var isRemoved: Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_nlink == 0
  }

  private init(_ place: FilePlace, _ descriptor: Int32) {
    self.place = place
    self.descriptor = descriptor
  }

  /// Makes an empty one that only this user can open, and holds a lock on it, so that nobody takes it for one
  /// that was left behind.
  ///
  /// - Parameters:
  ///   - target: The name that it is to have.
  ///   - mark: What tells it from others.
  package static func make(
    beside target: FilePlace, mark: String
  ) throws(StorageError) -> FileDraft {
    let place = target.sibling(prefix + mark)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe open(place.path, flags, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    let draft = FileDraft(place, descriptor)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .busy }
    return draft
  }

  /// Removes what kills left in a directory: drafts that nobody holds.
  package static func sweep(_ directory: FilePlace) {
    let names = FilePlace.names(in: directory.directory).filter { $0.hasPrefix(prefix) }
    let beside = names.filter { name in companions.contains { name.hasSuffix($0) } }
    for name in names where !beside.contains(name) {
      let place = directory.sibling(name)
      let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
      let descriptor = unsafe open(place.path, flags)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
      else { continue }
      _ = unsafe unlink(place.path)
    }
    for name in beside {
      // What belongs to one that somebody holds stays.
      let draft = name.prefix(upTo: name.lastIndex(of: "-") ?? name.endIndex)
      guard (try? directory.sibling(String(draft)).identity()) == nil else { continue }
      _ = unsafe unlink(directory.sibling(name).path)
    }
  }

  /// How many bytes it has, also when its name is gone.
  package var byteCount: UInt64 {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_size) : 0
  }

  /// Waits until it is on the disk.
  package func sync() throws(StorageError) {
    guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
  }

  /// Gives it the name that it is to have, which lasts when this returns.
  ///
  /// - Parameters:
  ///   - target: A name in the same directory.
  ///   - replacing: Whether something may stand there, whose place it takes.
  /// - Throws: ``StorageError/exists`` and others of the disk; what stands there stays.
  package func publish(as target: FilePlace, replacing: Bool) throws(StorageError) {
    guard !replacing else { return try target.replace(with: place) }
    if unsafe link(place.path, target.path) == 0 {
      _ = unsafe unlink(place.path)
      return try target.syncDirectory()
    }
    let reason = errno
    guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(reason) else {
      throw StorageError(systemError: reason)
    }
    // There are no hard links, and nothing stood there a moment ago.
    try target.replace(with: place)
  }
}

extension FilePlace {
  /// Whether what stands there is a regular file, and no link to one.
  package var isFile: Bool { FilePlace.size(Array(path.utf8)) != nil }

  /// Removes the file alone.
  package func removeFile() throws(StorageError) {
    guard unsafe unlink(path) == 0 else { throw StorageError(systemError: errno) }
  }
}
