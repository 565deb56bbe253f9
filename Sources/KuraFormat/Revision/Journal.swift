// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Notes one change of this copy of the vault, for whoever has to know of it when its row is gone.
public struct JournalRecord: Equatable, Sendable {
  /// The bytes of one, encoded.
  public static let byteCount = 8 + 2 * identifierByteCount
  /// The most that stand in one row.
  public static let mostInRow = 64

  /// The counter of the change.
  public let counter: UInt64
  /// The revision that it made.
  public let revision: RevisionID
  /// The item that it changed; zero for settings and slots.
  public let item: ItemID

  /// - Parameters:
  ///   - counter: The counter of the change, one of `RevisionEntry.counters`.
  ///   - revision: The revision that it made.
  ///   - item: The item that it changed.
  public init(counter: UInt64, revision: RevisionID, item: ItemID) {
    self.counter = counter
    self.revision = revision
    self.item = item
  }

  /// The encoded record.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(JournalRecord.byteCount)
    bytes.append(integer: counter)
    bytes.append(revision)
    bytes.append(item)
    return bytes
  }

  /// Reads the records of an opened row.
  ///
  /// - Throws: ``FormatError/damaged``.
  public static func decode(_ plaintext: Span<UInt8>) throws(FormatError) -> [JournalRecord] {
    let (count, rest) = plaintext.count.quotientAndRemainder(dividingBy: byteCount)
    guard rest == 0, (1...mostInRow).contains(count) else { throw .damaged }
    var reader = ByteReader(plaintext)
    var records: [JournalRecord] = []
    for _ in 0..<count {
      let record = JournalRecord(
        counter: try reader.integer(), revision: try reader.identifier(),
        item: try reader.identifier())
      guard RevisionEntry.counters.contains(record.counter),
        record.counter > records.last?.counter ?? 0
      else { throw .damaged }
      records.append(record)
    }
    return records
  }
}

/// Vouches for the records of a journal in their order: the root has its digest.
public struct JournalHead: ~Copyable {
  private static let domain: UInt8 = 6

  private let key: Key

  /// - Parameter key: The vault key's subkey for the root.
  public init(key: consuming Key) { self.key = key }

  /// What all records come to with one more.
  ///
  /// - Parameters:
  ///   - record: The one behind the last.
  ///   - head: What those before it come to; zero where there are none.
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func appending(
    _ record: JournalRecord, to head: Digest
  ) throws(FormatError) -> Digest {
    do {
      var hash = try KeyedHash(key: key)
      hash.update(integer: JournalHead.domain)
      hash.update(head.span)
      hash.update(record.encoded.span)
      return hash.finalize()
    } catch { throw .outOfMemory }
  }
}
