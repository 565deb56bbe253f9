// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraClient
internal import SecureMemory

/// Writes what a keeper of secrets has, record after record, in the form that kura-desktop(1) describes.
struct SecretStream: ~Copyable {
  /// What it begins with.
  static let head = "kura-secrets 1\n"

  /// Says what a record is.
  private enum Kind: UInt8 {
    case item = 1
    case lockedCollection = 2
    case lockedItem = 3
    case end = 4
  }

  private let descriptor: Int32
  private var record: SecretBuffer
  private var count: UInt32 = 0

  /// Begins it.
  init(to descriptor: Int32) throws(FileError) {
    try Descriptor.write(Self.head.utf8.span, to: descriptor)
    record = try Self.buffer()
    self.descriptor = descriptor
  }

  /// Room for a secret, or a record.
  static func buffer() throws(FileError) -> SecretBuffer {
    do throws(SecureMemoryError) { return try SecretBuffer(capacity: 4_096) } catch {
      throw FileError(errno: ENOMEM)
    }
  }

  /// Writes an item.
  mutating func put(
    _ item: SecretKeeper.Item, _ secret: borrowing SecretBuffer, in collection: String
  ) throws(FileError) {
    do throws(SecureMemoryError) {
      try begin(item.isLocked ? .lockedItem : .item)
      try append(collection)
      try append(item.label)
      if !item.isLocked {
        try record.append(integer: item.created)
        try record.append(integer: item.modified)
        try record.append(integer: UInt32(item.attributes.count))
        for text in item.attributes.joined() { try append(text) }
        try append(item.type)
        try record.append(integer: UInt32(secret.count))
        try record.append(secret.bytes)
      }
    } catch { throw FileError(errno: ENOMEM) }
    try hand()
  }

  /// Writes that a collection is locked.
  mutating func put(locked collection: String) throws(FileError) {
    do throws(SecureMemoryError) {
      try begin(.lockedCollection)
      try append(collection)
    } catch { throw FileError(errno: ENOMEM) }
    try hand()
  }

  /// Writes that this is all.
  mutating func end() throws(FileError) {
    do throws(SecureMemoryError) {
      try begin(.end)
      try record.append(integer: count)
    } catch { throw FileError(errno: ENOMEM) }
    try hand()
  }

  private mutating func begin(_ kind: Kind) throws(SecureMemoryError) {
    record.removeAll()
    try record.append(kind.rawValue)
  }

  private mutating func append(_ text: String) throws(SecureMemoryError) {
    try record.append(integer: UInt32(text.utf8.count))
    try record.append(text.utf8.span)
  }

  private mutating func hand() throws(FileError) {
    try Descriptor.write(record.bytes, to: descriptor)
    count += 1
  }
}
