// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Judges the key slots of a vault as a whole, before one of them is tried.
///
/// None of it is authentic then, but what no honest writer made is told as damage, and not as a credential
/// that opens nothing.
enum SlotTable {
  /// Checks that there are slots, not too many, and that each has the shape of its kind.
  ///
  /// - Returns: Their headers, in the same order.
  /// - Throws: ``VaultError/damaged(_:)``.
  @discardableResult
  static func check(_ rows: [SlotRow]) throws(VaultError) -> [SlotHeader] {
    var headers: [SlotHeader] = []
    do throws(FormatError) {
      for row in rows { headers.append(try SlotHeader(decoding: row.header.span)) }
    } catch {
      throw VaultError(error, about: .slot)
    }
    guard (1...KDFLimits.mostSlots).contains(rows.count),
      headers.count(where: { $0.kdf != nil }) <= KDFLimits.mostArgon2Slots,
      zip(rows, headers).allSatisfy({ hasShape($0, of: $1.kind) })
    else { throw .damaged(.slot) }
    return headers
  }

  private static func hasShape(_ row: SlotRow, of kind: SlotKind) -> Bool {
    kind.hasShape(key: row.key.count, protected: row.protected.count)
  }
}
