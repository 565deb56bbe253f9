// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Tells of one thing that is wrong with a vault, and where.
public struct Finding: ~Copyable, Sendable {
  /// What is wrong.
  public let kind: FindingKind
  private let text: SecretBytes

  /// Where: an item's name, or words such as `bucket 12`; UTF-8, a secret.
  public var place: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { text.bytes }
  }

  init(kind: FindingKind, text: consuming SecretBytes) {
    self.kind = kind
    self.text = text
  }
}

/// Keeps findings until somebody takes them.
struct FindingQueue: ~Copyable {
  /// A vault that is damaged all over needs no list of it all.
  private static let limit = 10_000

  /// Kind, length and text of each.
  private var buffer: SecretBuffer?
  private(set) var count = 0

  mutating func add(_ kind: FindingKind, _ place: Span<UInt8>) throws(VaultError) {
    count += 1
    guard count <= Self.limit else { return }
    do {
      var queue = try buffer.take() ?? SecretBuffer(capacity: 1_024)
      try queue.append(kind.rawValue)
      try queue.append(integer: UInt16(place.count))
      try queue.append(place)
      buffer = consume queue
    } catch {
      throw .outOfMemory
    }
  }

  mutating func add(
    _ kind: FindingKind, _ place: borrowing SecretBytes
  ) throws(VaultError) {
    try add(kind, place.bytes)
  }

  mutating func add(_ kind: FindingKind, _ place: String) throws(VaultError) {
    let text = Array(place.utf8)
    try add(kind, text.span)
  }

  mutating func take() throws(VaultError) -> Finding? {
    guard var queue = buffer.take() else { return nil }
    guard queue.count > 0, let kind = FindingKind(rawValue: queue.bytes[0]) else { return nil }
    let count = Int(queue.bytes[1]) | Int(queue.bytes[2]) << 8
    let text = try fromMemory(
      SecretBytes(copying: queue.bytes.extracting(3..<(3 + count))))
    queue.removeFirst(3 + count)
    buffer = consume queue
    return Finding(kind: kind, text: text)
  }
}
