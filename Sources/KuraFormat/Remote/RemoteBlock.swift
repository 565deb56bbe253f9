// SPDX-License-Identifier: MIT

/// Reads and writes what lists ids by the thousand: the chains of heads, and the journals of changes.
public enum RemoteBlock {
  /// How many ids a chain and a journal have.
  public static let count = 1_024

  /// The ids of a whole block, or those of a head that have none yet.
  ///
  /// - Parameters:
  ///   - bytes: A chain's body, or what a device sealed for itself, opened.
  ///   - isWhole: Whether it has to be a block; else there are fewer.
  /// - Throws: ``FormatError/damaged``.
  public static func decode<Subject>(
    _ bytes: Span<UInt8>, isWhole: Bool
  ) throws(FormatError) -> [Identifier<Subject>] {
    let (found, rest) = bytes.count.quotientAndRemainder(dividingBy: identifierByteCount)
    guard rest == 0, isWhole ? found == count : found < count else { throw .damaged }
    var reader = ByteReader(bytes)
    var ids: [Identifier<Subject>] = []
    for _ in 0..<found { ids.append(try reader.identifier()) }
    return ids
  }

  /// The bytes of ids, at most ``count``.
  public static func encode<Subject>(_ ids: [Identifier<Subject>]) -> [UInt8] {
    precondition(ids.count <= count, "ids were counted")
    var bytes: [UInt8] = []
    for id in ids { bytes.append(id) }
    return bytes
  }
}
