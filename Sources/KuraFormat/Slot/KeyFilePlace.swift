// SPDX-License-Identifier: MIT

/// Remembers, on one machine and in clear, where a key file stands that is tried by itself.
///
/// `"KURAAUT1" ‖ slot id ‖ u64 size ‖ u16 length ‖ path`.
public struct KeyFilePlace: Equatable, Sendable {
  /// The longest encoding, in bytes.
  public static let longest = 34 + SlotNote.longestPlace

  private static let magic: [UInt8] = Array("KURAAUT1".utf8)

  /// The slot that the file opens.
  public let slot: SlotID
  /// How many bytes the file has; another file is not looked at.
  public let size: UInt64
  /// Its absolute path, 1 to 1,024 bytes without NUL.
  public let path: [UInt8]

  /// A place.
  ///
  /// - Throws: ``FormatError/damaged`` when the path breaks its rule.
  public init(slot: SlotID, size: UInt64, path: [UInt8]) throws(FormatError) {
    guard path.first == UInt8(ascii: "/"), path.count <= SlotNote.longestPlace,
      !path.contains(0)
    else { throw .damaged }
    self.slot = slot
    self.size = size
    self.path = path
  }

  /// Reads what a machine remembers.
  ///
  /// - Parameter slot: The slot that it has to be of.
  /// - Throws: ``FormatError/damaged``.
  public init(decoding bytes: Span<UInt8>, slot: SlotID) throws(FormatError) {
    var reader = ByteReader(bytes)
    let magic = try reader.take(KeyFilePlace.magic.count)
    for index in magic.indices where magic[index] != KeyFilePlace.magic[index] { throw .damaged }
    let own: SlotID = try reader.identifier()
    let size = try reader.integer(UInt64.self)
    var path: [UInt8] = []
    path.append(span: try reader.counted16(limit: SlotNote.longestPlace))
    try reader.finish()
    guard own == slot else { throw .damaged }
    try self.init(slot: own, size: size, path: path)
  }

  /// What the machine keeps.
  public var encoded: [UInt8] {
    var bytes = KeyFilePlace.magic
    bytes.append(slot)
    bytes.append(integer: size)
    bytes.append(integer: UInt16(path.count))
    bytes.append(contentsOf: path)
    return bytes
  }
}
