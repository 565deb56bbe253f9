// SPDX-License-Identifier: MIT

internal import CKuraSystem
public import SecureMemory

/// Tells that a system call on a file failed.
public struct FileError: Error, Equatable, Sendable {
  /// What it said.
  public let errno: Int32

  /// Makes the error of an errno.
  public init(errno: Int32) { self.errno = errno }

  /// More came than was to be read.
  public static let tooLarge = EFBIG

  /// Something stands there already.
  public static let exists = EEXIST

  /// Throws when a count or a descriptor is a negated errno.
  package static func check(_ result: Int) throws(FileError) {
    if result < 0 { throw FileError(errno: Int32(-result)) }
  }
}

/// Reads and writes without a buffer that keeps what went through it.
public enum Descriptor {
  /// Opens a file to read; descriptors that are started programs' do not get it.
  public static func open(path: String) throws(FileError) -> Int32 {
    let descriptor = System.open(path)
    try FileError.check(Int(descriptor))
    return descriptor
  }

  /// Opens a regular file of just that size, and nothing that is named by a link: what a program may have put in its
  /// place is not looked at.
  public static func open(path: String, size: UInt64) throws(FileError) -> Int32 {
    let descriptor = System.openRegular(path, size: size)
    try FileError.check(Int(descriptor))
    return descriptor
  }

  /// Closes what ``open(path:)`` gave.
  public static func close(_ descriptor: Int32) { kura_file_close(descriptor) }

  /// Writes all of the bytes.
  public static func write(
    _ bytes: Span<UInt8>, to descriptor: Int32
  ) throws(FileError) {
    guard !bytes.isEmpty else { return }
    try FileError.check(System.write(bytes, to: descriptor))
  }

  /// Reads to the end.
  ///
  /// - Parameters:
  ///   - descriptor: What to read from; it stays open.
  ///   - limit: The most bytes that are taken; more is `EFBIG`.
  public static func readAll(
    _ descriptor: Int32, limit: Int
  ) throws(FileError) -> SecretBuffer {
    var buffer = try room { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: min(limit, 4_096) + 1)
    }
    while buffer.count <= limit {
      try room { () throws(SecureMemoryError) in try buffer.reserve(1) }
      if try read(descriptor, into: &buffer, upTo: buffer.capacity - buffer.count) == 0 {
        return buffer
      }
    }
    throw FileError(errno: FileError.tooLarge)
  }

  fileprivate static func room<Value: ~Copyable>(
    _ body: () throws(SecureMemoryError) -> Value
  ) throws(FileError) -> Value {
    do throws(SecureMemoryError) { return try body() } catch { throw FileError(errno: ENOMEM) }
  }

  /// Reads some bytes behind those that a buffer holds, in room that was reserved.
  ///
  /// - Returns: Their number; 0 at the end.
  public static func read(
    _ descriptor: Int32, into buffer: inout SecretBuffer, upTo limit: Int
  ) throws(FileError) -> Int {
    try buffer.append(upTo: limit) { tail throws(FileError) in
      let count = System.read(descriptor, into: &tail)
      try FileError.check(count)
      return count
    }
  }
}

extension SecretBuffer {
  /// Reads as many bytes as are held, and puts them in their place: in a process whose secrets are zeros, since another
  /// made it.
  ///
  /// - Throws: `EPIPE` where fewer come.
  public mutating func refill(from descriptor: Int32) throws(FileError) {
    let step = 4_096
    var place = 0
    var part = try Descriptor.room { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: step)
    }
    while place < count {
      part.removeAll()
      let got = try Descriptor.read(descriptor, into: &part, upTo: min(step, count - place))
      guard got > 0 else { throw FileError(errno: EPIPE) }
      overwrite(at: place, with: part.bytes)
      place += got
    }
  }
}
