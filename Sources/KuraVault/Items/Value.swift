// SPDX-License-Identifier: MIT

internal import KuraFormat
public import SecureMemory

/// Holds an item with its value: the bytes themselves, or a large value to be read piece by piece.
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

  /// Whether the value is large, and comes from ``advance(in:handingOut:)`` or ``next(in:)``.
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

  /// The room before each piece that ``advance(in:handingOut:)`` hands out: zero bytes, in whose place
  /// its taker may write what goes before the piece.
  public static let roomBeforePiece = ChunkPart.roomBefore

  /// Hands out the pieces of a stream that were opened, in order, and opens the next ones meanwhile,
  /// verified: some milliseconds of work at most. The first call hands nothing out.
  ///
  /// What was opened waits in guarded memory for the next call, and goes with the value.
  ///
  /// - Parameters:
  ///   - vault: Where the value was read from.
  ///   - body: Gets at most 64 KiB at a time, behind ``roomBeforePiece`` bytes; the piece is gone when
  ///     it returns.
  /// - Returns: Whether to call again; false when the last piece was handed out.
  /// - Throws: ``VaultError/changed`` when this revision was dropped meanwhile;
  ///   ``VaultError/damaged(_:)``; nothing is handed out by that call, and what came before is still
  ///   true.
  public mutating func advance(
    in vault: inout UnlockedVault, handingOut body: (inout SecretBuffer) -> Void
  ) throws(VaultError) -> Bool {
    guard reader != nil else { return false }
    // Compared with nil just now; to take it out and put it back would move what it has read.
    // swift-format-ignore: NeverForceUnwrap
    return try reader!.advance(of: item, in: &vault, body)
  }

  /// The next piece of a stream, verified.
  ///
  /// - Returns: At most 64 KiB; nil at the end.
  /// - Throws: As ``advance(in:handingOut:)`` does.
  public mutating func next(in vault: inout UnlockedVault) throws(VaultError) -> SecretBytes? {
    while reader?.hasPiece != true {
      guard try advance(in: &vault, handingOut: { _ in }) else { return nil }
    }
    return try reader?.takePiece { piece throws(VaultError) in
      try fromMemory(SecretBytes(copying: piece))
    }
  }
}
