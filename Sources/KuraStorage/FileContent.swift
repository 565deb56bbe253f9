// SPDX-License-Identifier: MIT

internal import Glibc

// What small files beside a vault hold, and which there are.

extension FilePlace {
  /// Reads the beginning of the file there; links are not followed.
  ///
  /// - Parameter room: Is filled as far as the file goes.
  /// - Returns: How many bytes that are.
  package func read(into room: inout MutableSpan<UInt8>) throws(StorageError) -> Int {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .io(errno) }
    defer { close(descriptor) }
    let count = unsafe room.withUnsafeMutableBytes { room in
      unsafe Glibc.read(descriptor, room.baseAddress, room.count)
    }
    guard count >= 0 else { throw .io(errno) }
    return count
  }

  /// Writes bytes over the beginning of the file there, which are on the disk when this returns.
  package func overwrite(with bytes: Span<UInt8>) throws(StorageError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .io(errno) }
    defer { close(descriptor) }
    let count = unsafe bytes.withUnsafeBytes {
      unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
    }
    guard count == bytes.count else { throw .io(count < 0 ? errno : ENOSPC) }
    guard fsync(descriptor) == 0 else { throw .io(errno) }
  }

  /// Lists the names in a directory, in no order; none where it cannot be read.
  package static func names(in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      names.append(name)
    }
    return names
  }

  /// The length of the regular file at a path, in bytes; nil for anything else, a link among it.
  package static func size(_ path: [UInt8]) -> UInt64? {
    let terminated = path + [0]
    var status = stat()
    let result = unsafe terminated.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return Int32(-1) }
      return unsafe start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        unsafe lstat($0, &status)
      }
    }
    guard result == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt64(status.st_size)
  }

  /// Whether this process may read what stands at a path, which may be no text.
  package static func isReadable(_ path: [UInt8]) -> Bool {
    let terminated = path + [0]
    return unsafe terminated.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        unsafe access($0, R_OK) == 0
      }
    }
  }
}
