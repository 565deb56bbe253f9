// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

/// The note of a backup is what was written, or none.
struct BackupRecordTests {
  private var record: BackupRecord {
    let id = [UInt8](1...16)
    return BackupRecord(
      vault: VaultID(id.span), time: 1_700_000_000_000, path: Array("/m/a.kura".utf8))
  }

  @Test func `a record comes back as it was`() throws {
    let record = record
    #expect(record.encoded.count == BackupRecord.byteCount)
    #expect(try BackupRecord(decoding: record.encoded.span) == record)
  }

  @Test func `of a long path the end is kept`() throws {
    let long = BackupRecord(
      vault: record.vault, time: 1, path: Array(repeating: 0x61, count: 400) + [0x62])
    #expect(long.path.count == 360 && long.path.last == 0x62)
    #expect(try BackupRecord(decoding: long.encoded.span) == long)
  }

  @Test func `one that was torn counts for nothing`() throws {
    let bytes = record.encoded
    for place in [0, 7, 33, 511] {
      var torn = bytes
      torn[place] ^= 0x80
      #expect(throws: FormatError.damaged) { try BackupRecord(decoding: torn.span) }
    }
    #expect(throws: FormatError.damaged) {
      try BackupRecord(decoding: Array(bytes.dropLast()).span)
    }
  }
}
