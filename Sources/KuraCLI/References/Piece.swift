// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Tells the parts of a text that is filled in from each other.
enum Piece: Equatable, Sendable {
  /// Bytes of the text, as they stand.
  case text(Range<Int>)
  /// A value stands here.
  case placeholder(Placeholder)

  var placeholder: Placeholder? {
    guard case .placeholder(let placeholder) = self else { return nil }
    return placeholder
  }
}

/// Keeps the values of placeholders, in their order, until they are written where they belong.
struct PlaceholderValues: ~Copyable {
  private var bytes: SecretBuffer
  /// Where each value stands; nil where there is none.
  private var ranges: [Range<Int>?]

  /// No values yet.
  static func make(count: Int) throws(CommandError) -> PlaceholderValues {
    let bytes = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
    return PlaceholderValues(bytes, count: count)
  }

  private init(_ bytes: consuming SecretBuffer, count: Int) {
    self.bytes = bytes
    ranges = Array(repeating: nil, count: count)
  }

  /// How many bytes all of them have.
  var count: Int { bytes.count }

  /// What they are parts of.
  var text: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get { bytes.bytes }
  }

  /// Where one of them stands there; nil where there is none.
  func range(of index: Int) -> Range<Int>? { ranges[index] }

  /// Forgets all of them.
  mutating func removeAll() {
    bytes.removeAll()
    for index in ranges.indices { ranges[index] = nil }
  }

  /// Reads all of them once more, in a process that has none.
  mutating func refill(from channel: Int32) throws(FileError) { try bytes.refill(from: channel) }

  /// How many bytes one of them has so far.
  func count(of index: Int) -> Int { ranges[index]?.count ?? 0 }

  /// A value is about to come.
  mutating func begin(_ index: Int) { ranges[index] = bytes.count..<bytes.count }

  /// There is no such value.
  mutating func drop(_ index: Int) { ranges[index] = nil }

  /// Appends to the value that came last.
  mutating func append(_ part: Span<UInt8>, to index: Int) throws(SecureMemoryError) {
    try bytes.append(part)
    ranges[index] = (ranges[index]?.lowerBound ?? bytes.count)..<bytes.count
  }

  /// Writes pieces of a text with the values in the place of their placeholders.
  ///
  /// - Parameter next: Which value the first placeholder means; then the one behind the last.
  borrowing func write(
    _ pieces: [Piece], of text: Span<UInt8>, from next: inout Int, to result: inout SecretBuffer
  ) throws(CommandError) {
    for piece in pieces {
      switch piece {
      case .text(let range): try Self.append(text.extracting(range), to: &result)
      case .placeholder(let placeholder):
        if let range = ranges[next] {
          try Self.write(bytes.bytes.extracting(range), placeholder, to: &result)
        } else if let fallback = placeholder.fallback {
          try Self.write(text.extracting(fallback), placeholder, to: &result)
        }
        next += 1
      }
    }
  }

  private static func write(
    _ value: Span<UInt8>, _ placeholder: Placeholder, to result: inout SecretBuffer
  ) throws(CommandError) {
    guard let filter = placeholder.filter else { return try append(value, to: &result) }
    try placing(placeholder.source.place) { () throws(CommandError) in
      try filter.write(value, to: &result)
    }
  }

  private static func append(
    _ bytes: Span<UInt8>, to result: inout SecretBuffer
  ) throws(CommandError) {
    do throws(SecureMemoryError) { try result.append(bytes) } catch { throw .outOfMemory }
  }
}
