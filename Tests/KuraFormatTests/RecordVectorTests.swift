// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

/// The records of format 2 that the reference wrote: what it takes is taken and written again to the byte, what it
/// refuses is refused.
@Suite struct RecordVectorTests {
  private static let lines = RecordLine.all(of: "format-2.txt")

  @Test func `there are good and bad ones of each kind`() {
    let good = Set(Self.lines.filter(\.isGood).map(\.kind))
    let bad = Set(Self.lines.filter { !$0.isGood }.map(\.kind))
    let kinds: Set = [
      "meta", "body", "protected", "purge", "ring", "devices", "remote", "place", "journal", "root",
    ]
    #expect(good == kinds && bad == kinds)
    #expect(Self.lines.count > 90)
  }

  @Test func `both readers agree on each`() {
    for line in Self.lines {
      let written = Result { try again(line.kind, line.record) }
      switch written {
      case .success(let bytes):
        #expect(line.isGood && bytes == line.record, "\(line.what)")
      case .failure(let error):
        #expect(!line.isGood && error as? FormatError == .damaged, "\(line.what)")
      }
    }
  }

  /// The record as it is written again.
  private func again(_ kind: String, _ record: [UInt8]) throws -> [UInt8] {
    switch kind {
    case "meta": return try meta(record)
    case "body": return try parts(record, .standard)
    case "protected": return try parts(record, .protected)
    case "purge": return bytes(of: try PurgeRecord(decoding: record.span).encode())
    case "ring": return bytes(of: try Ring.decode(record.span, of: .second).encode())
    case "devices": return bytes(of: try DeviceTable(decoding: record.span).encode())
    case "remote": return bytes(of: try RemoteMemory(decoding: record.span).encode())
    case "place": return try ValuePlace(decoding: record.span, of: identifier(4)).encoded
    case "journal": return try JournalRecord.decode(record.span).flatMap(\.encoded)
    case "root": return try RootRecord(decoding: record.span, of: .second).encoded
    default: throw FormatError.notAVault
    }
  }

  private func meta(_ record: [UInt8]) throws -> [UInt8] {
    let read = try ItemMeta.decode(try secret(record), of: .second)
    guard let trail = try read.view.trail() else { throw FormatError.notAVault }
    let again = try ItemMeta(
      name: read.name, created: read.created, modified: read.modified, size: read.size,
      attributes: read.attributes, trail: trail)
    return bytes(again.encoded)
  }

  private func parts(_ record: [UInt8], _ protection: ProtectionClass) throws -> [UInt8] {
    let parts = try BodyParts(decoding: record.span, protection)
    guard !parts.secrets.isEmpty else { return bytes(parts.value) }
    return bytes(of: try BodyParts.join(parts.value, parts.secrets))
  }
}
