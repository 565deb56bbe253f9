// SPDX-License-Identifier: MIT

/// Holds what a vault file says of itself without a key: part 0, 24 bytes.
public struct VaultHeader: Equatable, Sendable {
  /// The format that this release reads and writes.
  public static let format: UInt16 = 1

  /// The encoded length, in bytes.
  public static let byteCount = 24

  private static let magic: [UInt8] = Array("KURA".utf8)

  /// The vault's id.
  public let vault: VaultID

  /// A header of the current format.
  public init(vault: VaultID) { self.vault = vault }

  /// Reads a header.
  ///
  /// - Throws: ``FormatError/notAVault``, ``FormatError/newerFormat(_:)``,
  ///   ``FormatError/damaged``.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    guard bytes.count >= VaultHeader.magic.count else { throw .notAVault }
    let magic = try reader.take(4)
    for index in magic.indices where magic[index] != VaultHeader.magic[index] {
      throw .notAVault
    }
    let format = try reader.integer(UInt16.self)
    guard format <= VaultHeader.format else { throw .newerFormat(format) }
    guard format == VaultHeader.format else { throw .damaged }
    try reader.zeros(2)
    vault = try reader.identifier()
    try reader.finish()
  }

  /// The header's 24 bytes.
  public var encoded: [UInt8] {
    var bytes = VaultHeader.magic
    bytes.append(integer: VaultHeader.format)
    bytes.append(zeros: 2)
    bytes.append(vault)
    return bytes
  }
}
