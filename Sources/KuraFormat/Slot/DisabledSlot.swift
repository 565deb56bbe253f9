// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import SecureMemory

/// Keeps the whole of a slot that its owner put out of use, to be sealed and, one day, put back as it was.
///
/// `u16 length ‖ header ‖ u16 length ‖ key ‖ u16 length ‖ protected half`, each as it stood in its column.
public struct DisabledSlot: Equatable, Sendable {
  /// The slot's header.
  public let header: [UInt8]
  /// The vault key, sealed.
  public let key: [UInt8]
  /// The protected pair's secret half, sealed; empty where the slot does not hold it.
  public let protected: [UInt8]

  /// A slot's columns.
  public init(header: [UInt8], key: [UInt8], protected: [UInt8]) {
    self.header = header
    self.key = key
    self.protected = protected
  }

  /// Reads what was sealed.
  ///
  /// - Parameter slot: The id that the slot has to have.
  /// - Throws: ``FormatError/damaged``, also for a slot of a kind that this release does not open.
  public init(decoding bytes: Span<UInt8>, slot: SlotID) throws(FormatError) {
    var reader = ByteReader(bytes)
    var columns: [[UInt8]] = [[], [], []]
    for index in columns.indices {
      columns[index].append(span: try reader.counted16(limit: SlotHeader.longestLater - 1))
    }
    try reader.finish()
    (header, key, protected) = (columns[0], columns[1], columns[2])
    let known = try SlotHeader(decoding: header.span)
    guard known.kind.isKnown, known.id == slot else { throw .damaged }
  }

  /// The plaintext to seal. Nothing of it is a secret: it stood in the file in clear.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for column in [header, key, protected] {
      bytes.append(integer: UInt16(column.count))
      bytes.append(contentsOf: column)
    }
    return bytes
  }
}
