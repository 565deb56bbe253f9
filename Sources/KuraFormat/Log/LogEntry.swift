// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import SecureMemory

// MARK: - Writing

extension SecretBuffer {
  /// Writes an entry of the access log.
  ///
  /// - Parameters:
  ///   - facts: What it says.
  ///   - name: The item's name, empty for none.
  ///   - other: Another name that it is about: an item's new one, or an attribute's key.
  /// - Throws: ``FormatError/outOfMemory``.
  public mutating func append(
    _ facts: LogFacts, name: Span<UInt8>, other: Span<UInt8>
  ) throws(FormatError) {
    do throws(SecureMemoryError) {
      try append(integer: facts.time)
      try append(facts.verb)
      try append(integer: facts.code)
      try append(integer: facts.detail)
      try append(integer: facts.process)
      try append(integer: facts.parent)
      try append(name: name)
      try append(name: other)
      for text in [facts.program, facts.parentProgram, facts.terminal] {
        try append(UInt8(text.count))
        try append(text.span)
      }
    } catch { throw .outOfMemory }
  }

  private mutating func append(name: Span<UInt8>) throws(SecureMemoryError) {
    let kept = name.extracting(first: ItemName.longest)
    try append(integer: UInt16(kept.count))
    try append(kept)
  }
}

// MARK: - Reading

/// Reads the entries of the access log that were sealed together.
public struct LogEntries: ~Copyable, Sendable {
  private let plaintext: SecretBytes
  private var offset: Int

  /// Holds one entry: what it says, and where its names stand.
  public struct Entry: Sendable {
    /// What was done, when, by whom, and how it ended.
    public let facts: LogFacts
    let name: Range<Int>
    let other: Range<Int>

    /// Whether it tells of something that was refused, and names no item.
    fileprivate var isRefusal: Bool {
      facts.code != 0 && facts.verb != 0 && name.isEmpty && other.isEmpty
    }
  }

  init(_ plaintext: consuming SecretBytes, from offset: Int) {
    self.plaintext = plaintext
    self.offset = offset
  }

  /// The item's name of an entry of these, empty for none.
  @_lifetime(borrow self)
  public borrowing func name(of entry: Entry) -> Span<UInt8> {
    plaintext.bytes.extracting(entry.name)
  }

  /// The other name that an entry of these is about.
  @_lifetime(borrow self)
  public borrowing func other(of entry: Entry) -> Span<UInt8> {
    plaintext.bytes.extracting(entry.other)
  }

  /// The entries' bytes, as they were written.
  public var encoded: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { plaintext.bytes.extracting(droppingFirst: offset) }
  }

  /// The next entry; nil after the last.
  ///
  /// - Throws: ``FormatError/damaged``.
  public mutating func next() throws(FormatError) -> Entry? {
    var place = offset
    let entry = try entry(at: &place)
    offset = place
    return entry
  }

  /// Whether these are as many entries as their frame says, each of them whole.
  ///
  /// - Parameter isLocked: Whether they were made without a key, by who can have noted only a credential
  ///   that opened nothing.
  borrowing func hold(_ count: Int, isLocked: Bool) -> Bool {
    var (place, found) = (offset, 0)
    do throws(FormatError) {
      while let entry = try entry(at: &place) {
        found += 1
        guard !isLocked || entry.isRefusal else { return false }
      }
    } catch { return false }
    return found == count
  }

  private borrowing func entry(at offset: inout Int) throws(FormatError) -> Entry? {
    guard offset < plaintext.count else { return nil }
    var reader = ByteReader(plaintext.bytes.extracting(droppingFirst: offset))
    let start = offset
    var facts = LogFacts(
      time: try reader.integer(), verb: try reader.integer(), code: try reader.integer(),
      detail: try reader.integer())
    facts.process = try reader.integer()
    facts.parent = try reader.integer()
    let name = try Self.name(&reader, from: start)
    let other = try Self.name(&reader, from: start)
    facts.program = try Self.text(&reader)
    facts.parentProgram = try Self.text(&reader)
    facts.terminal = try Self.text(&reader)
    offset += reader.offset
    return Entry(facts: facts, name: name, other: other)
  }

  private static func name(
    _ reader: inout ByteReader, from start: Int
  ) throws(FormatError) -> Range<Int> {
    let count = try reader.counted16(limit: ItemName.longest).count
    let end = start + reader.offset
    return (end - count)..<end
  }

  private static func text(_ reader: inout ByteReader) throws(FormatError) -> [UInt8] {
    let count = Int(try reader.integer(UInt8.self))
    var text: [UInt8] = []
    text.append(span: try reader.take(count))
    return text
  }
}
