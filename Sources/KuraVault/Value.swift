// SPDX-License-Identifier: MIT

internal import KuraFormat
public import SecureMemory

/// An item with its value: the bytes themselves, or a large value to be read piece by piece.
public struct Value: ~Copyable {
  /// Everything but the value.
  public let item: Item

  private let inline: SecretBytes?
  private var reader: ChunkReader?

  init(_ item: consuming Item, _ body: consuming ItemBody) throws(VaultError) {
    switch consume body {
    case .inline(let bytes):
      guard UInt64(bytes.count) == item.size else { throw .damaged(.item) }
      inline = consume bytes
      reader = nil
    case .chunked(let manifest):
      guard manifest.length == item.size else { throw .damaged(.item) }
      reader = try ChunkReader(manifest)
      inline = nil
    }
    self.item = item
  }

  /// Whether the value is large, and comes from ``advance(in:)`` or ``next(in:)``.
  public var isStream: Bool { reader != nil }

  /// The value; without bytes when it is a stream.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch inline {
      case .some(let bytes): bytes.bytes
      case .none: Span()
      }
    }
  }

  /// Opens the next pieces of a stream, verified: some milliseconds of work at most. Those that were
  /// opened before must have been taken.
  ///
  /// - Returns: Whether there are any; false at the end.
  /// - Throws: ``VaultError/changed`` when this revision was dropped meanwhile;
  ///   ``VaultError/damaged(_:)``, after which what came before is still true.
  public mutating func advance(in vault: inout UnlockedVault) throws(VaultError) -> Bool {
    guard reader != nil else { return false }
    return try reader!.advance(of: item, in: &vault)
  }

  /// Hands the opened pieces out, in order.
  ///
  /// - Parameter body: Gets at most 64 KiB at a time, which are gone when it returns.
  public mutating func takePieces<Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    while reader?.hasPiece == true { try reader!.takePiece(body) }
  }

  /// The next piece of a stream, verified.
  ///
  /// - Returns: At most 64 KiB; nil at the end.
  /// - Throws: As ``advance(in:)`` does.
  public mutating func next(in vault: inout UnlockedVault) throws(VaultError) -> SecretBytes? {
    if reader?.hasPiece != true {
      guard try advance(in: &vault) else { return nil }
    }
    return try reader?.takePiece { piece throws(VaultError) in
      do { return try SecretBytes(copying: piece) } catch { throw .outOfMemory }
    }
  }
}
