// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory

/// The records that vaults of format 2 have and those of format 1 do not.
enum CopyTargets {
  static var all: [FuzzTarget] { items + copies }

  private static let half = filled(8, 32)

  private static func filled(_ byte: UInt8, _ count: Int = 16) -> [UInt8] {
    [UInt8](repeating: byte, count: count)
  }

  private static func counted(_ text: String) -> [UInt8] {
    little(UInt16(text.utf8.count)) + text.utf8
  }

  private static func lineage(_ id: UInt8) -> [UInt8] {
    filled(id) + little(UInt64(4)) + little(UInt16(2)) + filled(3) + little(UInt64(9)) + filled(5)
      + little(UInt64(2)) + little(UInt16(0))
  }

  private static var meta: [UInt8] {
    let head = little(UInt64(1)) + little(UInt64(2)) + little(UInt64(44)) + counted("a/b")
    let attributes = little(UInt16(1)) + counted("k") + little(UInt32(1)) + [0x76]
    let secrets = little(UInt16(1)) + counted("user") + little(UInt32(5))
    let stamps =
      little(UInt16(1)) + little(UInt16(1)) + little(UInt64(2)) + little(UInt64(1)) + filled(0x51)
    let fields: [UInt8] = [2, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0]
    let deleted = little(UInt16(1)) + counted("old") + [1, 0, 0]
    let sides = little(UInt16(1)) + little(UInt64(3))
    return [2] + head + attributes + secrets + lineage(0x50) + stamps + fields + deleted + sides
  }

  private static var items: [FuzzTarget] {
    let secrets = little(UInt16(1)) + counted("pin") + little(UInt32(2)) + [0x31, 0x32]
    let plain = [6] + little(UInt32(2)) + [0, 7] + secrets
    let sealed =
      [6] + little(UInt32(1)) + [4] + little(UInt16(1)) + counted("pin") + filled(1, 48)
      + little(UInt32(79)) + filled(2, 79)
    let byID = [4] + filled(7) + filled(6, 32 + 72 + 2)
    return [
      FuzzTarget(name: "item-meta-2", seeds: [meta]) { input throws(Flaw) in
        try same(input) {
          let read = try ItemMeta.decode(try SecretBytes(copying: input.span), of: .second)
          guard let trail = try read.view.trail() else { return input }
          let again = try ItemMeta(
            name: read.name, created: read.created, modified: read.modified, size: read.size,
            attributes: read.attributes, trail: trail)
          return copy(again.encoded)
        }
      },
      FuzzTarget(name: "item-body-2", seeds: [[0, 1], plain]) { input throws(Flaw) in
        try same(input) { try parts(input, .standard) }
      },
      FuzzTarget(name: "protected-body-2", seeds: [byID, sealed]) { input throws(Flaw) in
        try same(input) {
          guard input.first == 4 || input.first == 5 else { return try parts(input, .protected) }
          let read = try ProtectedBody.decode(try SecretBytes(copying: input.span), of: .second)
          return copy(read.encoded)
        }
      },
      FuzzTarget(
        name: "purge", seeds: [[7] + lineage(1)[24..<74] + [1, 1] + lineage(0x40)]
      ) { input throws(Flaw) in
        try same(input) {
          let secret = try PurgeRecord(decoding: input.span).encode()
          return copy(secret.bytes)
        }
      },
    ]
  }

  private static func parts(
    _ input: [UInt8], _ protection: ProtectionClass
  ) throws -> [UInt8] {
    let parts = try BodyParts(decoding: input.span, protection)
    guard !parts.secrets.isEmpty else { return copy(parts.value) }
    let again = try BodyParts.join(parts.value, parts.secrets)
    return copy(again.bytes)
  }

  private static var copies: [FuzzTarget] {
    let ring =
      [3] + little(UInt16(1)) + little(UInt32(1)) + [1] + little(UInt64(5)) + half + half + [0]
      + filled(0) + little(UInt16(0)) + [0]
    let slots = [1] + lineage(1) + [1] + filled(2) + [1] + filled(3) + little(UInt64(1))
    let settings = [1, 1, 1] + lineage(1) + little(UInt64(9))
    let waiting = [1] + little(UInt16(48)) + filled(1, 48) + little(UInt16(0)) + little(UInt16(0))
    let ledger = filled(1) + filled(2) + slots + settings + waiting + [1] + filled(7, 168)
    let device =
      filled(1) + [3] + little(UInt64(5)) + filled(2) + at + at + little(UInt64(9))
      + little(UInt64(4)) + filled(6) + half + counted("desk")
    let record = little(UInt64(4)) + filled(1, 32)
    return [
      FuzzTarget(name: "key-ring-2", seeds: [ring + ledger]) { input throws(Flaw) in
        try same(input) {
          let secret = try Ring.decode(input.span, of: .second).encode()
          return copy(secret.bytes)
        }
      },
      FuzzTarget(name: "devices", seeds: [[1, 1, 0] + device]) { input throws(Flaw) in
        try same(input) {
          let secret = try DeviceTable(decoding: input.span).encode()
          return copy(secret.bytes)
        }
      },
      FuzzTarget(name: "remote-memory", seeds: [memory]) { input throws(Flaw) in
        try same(input) {
          let secret = try RemoteMemory(decoding: input.span).encode()
          return copy(secret.bytes)
        }
      },
      FuzzTarget(name: "value-place", seeds: [place]) { input throws(Flaw) in
        try same(input) { try ValuePlace(decoding: input.span, of: identifier(4)).encoded }
      },
      FuzzTarget(name: "journal", seeds: [record]) { input throws(Flaw) in
        try same(input) { try JournalRecord.decode(input.span).flatMap(\.encoded) }
      },
      FuzzTarget(name: "root-2", seeds: [root]) { input throws(Flaw) in
        try same(input) { try RootRecord(decoding: input.span, of: .second).encoded }
      },
    ]
  }

  /// A head of a device.
  private static let at = little(UInt64(3)) + filled(7)

  private static var memory: [UInt8] {
    let covered = little(UInt16(1)) + filled(3) + little(UInt64(9))
    let was =
      little(UInt16(1)) + filled(4) + filled(5) + little(UInt64(6)) + little(UInt64(8)) + at
      + little(UInt16(1))
      + little(UInt64(4)) + filled(8)
    let runs = [1, 2, 4, 9].flatMap { little(UInt64($0)) }
    let vouched = little(UInt16(1)) + filled(6) + little(UInt16(2)) + runs
    let standing = at + little(UInt16(2)) + [1] + filled(9) + vouched
    return [1] + filled(1) + [3] + little(UInt32(2)) + [0, 1] + covered + was + standing + [1]
      + standing
  }

  private static let place =
    little(UInt64(17)) + filled(2) + little(UInt16(2)) + filled(3, 32) + little(UInt32(1_000))
    + filled(4, 32) + little(UInt32(2_000))

  private static var root: [UInt8] {
    let copy = CopyState(
      device: identifier(20), counter: 77, journalHead: digest(21), journalCount: 9)
    return RootRecord(
      epoch: 5, itemCount: 4, deletedCount: 3, depth: 2, treeRoot: digest(10),
      headerDigest: digest(11), previous: digest(12), writer: identifier(14), time: 15, copy: copy
    ).encoded
  }

  /// Complains where what was read is not written as it was.
  private static func same(
    _ input: [UInt8], _ written: () throws -> [UInt8]
  ) throws(Flaw) -> Bool {
    try isTaken {
      let written = try written()
      try hold(written == input, "it is written otherwise than it was read")
    }
  }
}
