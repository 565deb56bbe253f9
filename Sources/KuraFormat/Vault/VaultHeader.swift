// SPDX-License-Identifier: MIT

/// Names the formats that a vault can have.
public enum VaultFormat: UInt16, Sendable, Comparable {
  /// Every vault's, until something is wanted of it that this has no place for.
  case first = 1
  /// Tells of each revision what it follows, and seals attributes with the value.
  case second = 2

  /// Orders the formats by their numbers.
  public static func < (left: VaultFormat, right: VaultFormat) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// Holds what a vault file says of itself without a key: part 0, 24 bytes.
public struct VaultHeader: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 24

  private static let magic: [UInt8] = Array("KURA".utf8)

  /// What all else in the file is read as.
  public let format: VaultFormat
  /// The vault's id.
  public let vault: VaultID

  /// A header.
  public init(vault: VaultID, format: VaultFormat = .first) {
    self.vault = vault
    self.format = format
  }

  /// Reads a header.
  ///
  /// - Parameter newest: The last format that is read; what comes after it is newer.
  /// - Throws: ``FormatError/notAVault``, ``FormatError/newerFormat(_:)``,
  ///   ``FormatError/damaged``.
  public init(
    decoding bytes: Span<UInt8>, upTo newest: VaultFormat = .first
  ) throws(FormatError) {
    var reader = ByteReader(bytes)
    guard bytes.count >= VaultHeader.magic.count else { throw .notAVault }
    let magic = try reader.take(4)
    for index in magic.indices where magic[index] != VaultHeader.magic[index] {
      throw .notAVault
    }
    let number = try reader.integer(UInt16.self)
    guard number <= newest.rawValue else { throw .newerFormat(number) }
    guard let format = VaultFormat(rawValue: number) else { throw .damaged }
    self.format = format
    try reader.zeros(2)
    vault = try reader.identifier()
    try reader.finish()
  }

  /// The header's 24 bytes.
  public var encoded: [UInt8] {
    var bytes = VaultHeader.magic
    bytes.append(integer: format.rawValue)
    bytes.append(zeros: 2)
    bytes.append(vault)
    return bytes
  }
}
