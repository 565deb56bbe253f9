// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
public import SecureMemory

/// An item with its value: the bytes themselves, or a large value to be read piece by piece.
public struct Value: ~Copyable {
  /// Everything but the value.
  public let item: Item

  private let inline: SecretBytes?
  private let manifest: Manifest?
  private var nextChunk: UInt64 = 0

  init(_ item: consuming Item, _ body: consuming ItemBody) throws(VaultError) {
    switch consume body {
    case .inline(let bytes):
      guard UInt64(bytes.count) == item.size else { throw .damaged(.item) }
      inline = consume bytes
      manifest = nil
    case .chunked(let found):
      guard found.length == item.size else { throw .damaged(.item) }
      manifest = consume found
      inline = nil
    }
    self.item = item
  }

  /// Whether the value is large, and comes from ``next(in:)``.
  public var isStream: Bool { manifest != nil }

  /// The value; without bytes when it is a stream.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch inline {
      case .some(let bytes): bytes.bytes
      case .none: Span()
      }
    }
  }

  /// The next piece of a stream, verified.
  ///
  /// - Returns: At most 64 KiB; nil at the end.
  /// - Throws: ``VaultError/changed`` when this revision was dropped meanwhile;
  ///   ``VaultError/damaged(_:)``, after which what came before is still true.
  public mutating func next(in vault: inout UnlockedVault) throws(VaultError) -> SecretBytes? {
    let number = nextChunk
    switch manifest {
    case .none: return nil
    case .some(let manifest):
      guard number < manifest.chunkCount else { return nil }
      guard let piece = try vault.chunk(number, of: manifest) else {
        throw try vault.refers(to: item) ? .damaged(.chunk) : .changed
      }
      nextChunk = number + 1
      return piece
    }
  }
}

extension UnlockedVault {
  /// A chunk, opened; nil when there is no such row.
  fileprivate mutating func chunk(
    _ number: UInt64, of manifest: borrowing Manifest
  ) throws(VaultError) -> SecretBytes? {
    do {
      // A chunk of another revision, item or place does not open, whatever root there is by now.
      try rows.storage.beginRead()
      defer { rows.storage.end() }
      let value = manifest.value.bytes
      guard let sealed = try rows.storage.chunk(value.span, number) else { return nil }
      return try manifest.open(chunk: sealed, number)
    } catch {
      throw VaultError(error, about: .chunk)
    }
  }

  /// Whether an item still has this revision.
  fileprivate mutating func refers(to item: borrowing Item) throws(VaultError) -> Bool {
    let (tag, id, revision) = (item.facts.tag, item.facts.id, item.facts.revision)
    return try reading { vault throws(VaultError) in
      guard let (facts, history) = try vault.verifiedHistory(tag), facts.id == id else {
        return false
      }
      return facts.revision == revision || history.entries.contains { $0.revision == revision }
    }
  }
}

extension Manifest {
  /// Opens a chunk and checks that it has the length that its place asks for.
  borrowing func open(chunk sealed: Span<UInt8>, _ number: UInt64) throws -> SecretBytes {
    let associated = AssociatedData.chunk(
      value: value, number: number, isLast: number == chunkCount - 1)
    let piece = try Seal.open(sealed, authenticating: associated.span, under: key)
    guard piece.count == byteCount(ofChunk: number) else { throw VaultError.damaged(.chunk) }
    return piece
  }
}
