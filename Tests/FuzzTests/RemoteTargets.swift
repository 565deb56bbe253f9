// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory

/// What stands in a store, where everybody can write. What is signed gets the right signature, so that the fields are read
/// and not only that; what is found by its hash is looked for by it.
enum RemoteTargets {
  static var all: [FuzzTarget] { signed + sealed + clear }

  private static let epoch: DeviceTable.Epoch = identifier(3)
  private static let hash = [UInt8](repeating: 9, count: 32)

  private static func id(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

  private static func pair() throws -> SigningPair {
    try SigningPair(seed: SecretBytes(copying: hash.span))
  }

  /// The input with the signature of the pair, for the purpose in front.
  private static func signed(_ input: [UInt8], _ purpose: String) throws -> [UInt8] {
    input + (try pair().signature(of: Array(purpose.utf8) + input))
  }

  private static var signed: [FuzzTarget] {
    let key = (try? pair().publicHalf) ?? []
    let front =
      Array("KURAHEAD".utf8) + [1, 0, 0, 0] + id(1) + id(2) + key + little(UInt64(3)) + id(3) + hash
      + hash
    let lists = [0, 0, 2, 0] + id(4) + id(5) + [1, 0] + hash
    let parts = little(UInt32(3)) + [7, 8, 9] + little(UInt32(2)) + [5, 6]
    let parents = [1] + id(4) + [2, 0] + id(4) + id(5)
    let record = id(1) + id(2) + key + parents + little(UInt32(3)) + [7, 8, 9] + hash
    return [
      FuzzTarget(name: "remote-head", seeds: [front + lists + parts]) { input throws(Flaw) in
        try isTaken {
          let whole = try signed(input, "kura1/head")
          var head = try RemoteHead(decoding: whole.span)
          try hold(try head.signed(with: pair()) == whole, "it is signed otherwise")
        }
      },
      FuzzTarget(name: "epoch-record", seeds: [record]) { input throws(Flaw) in
        try isTaken {
          let whole = try signed(input, "kura1/epoch")
          let read = try EpochRecord(decoding: whole.span)
          try hold(Set(read.parents).isSubset(of: read.ancestors), "a parent that is none")
          try hold(read.proofs.count == read.parents.count, "a parent without a proof")
        }
      },
    ]
  }

  private static var sealed: [FuzzTarget] {
    let place = little(UInt64(3)) + id(4)
    let report =
      little(UInt64(9)) + little(UInt64(7)) + little(UInt64(1)) + hash + [2, 0x61, 0x62] + [1, 0]
      + hash
      + little(UInt32(5)) + little(UInt64(2)) + [1, 0] + id(4) + place
      + [UInt8](repeating: 0, count: 24)
    let rest =
      hash + [1, 0] + id(4) + little(UInt64(1)) + [1, 0] + id(4) + little(UInt64(3)) + [1, 0]
      + hash + little(UInt64(2)) + [1, 0] + id(4) + hash + [1, 0] + id(4) + id(5)
      + little(UInt64(2)) + little(UInt64(3)) + place + [1, 0]
      + little(UInt64(4)) + id(6)
    let cut =
      [1, 0] + id(4) + little(UInt64(5)) + [1, 0] + id(5) + place + little(UInt64(6))
      + little(UInt64(7))
    let chunk = [UInt8](repeating: 5, count: 73)
    return [
      same("head-report", [report + rest]) { try HeadReport(decoding: $0.span).encoded },
      same("epoch-cut", [cut]) { try EpochCut(decoding: $0.span).encoded },
      same("pack", [pack]) { try written(PackView(decoding: $0.span)) },
      same("piece", [[1] + little(UInt32(73)) + chunk]) { input in
        let piece = try PieceView(decoding: input.span)
        return PieceView.encode((0..<piece.count).map { copy(piece.chunk($0)) })
      },
      same("own-changes", [id(4) + id(5)]) { input in
        let ids: [RevisionID] = try RemoteBlock.decode(input.span, isWhole: false)
        return RemoteBlock.encode(ids)
      },
    ]
  }

  private static var pack: [UInt8] {
    let lineage =
      id(4) + little(UInt64(4)) + [1, 0] + id(3) + little(UInt64(9)) + little(UInt16(0))
    let values = [1, 0] + id(4) + id(2) + [1, 0] + hash + little(UInt32(70))
    let rows =
      little(UInt64(7)) + [0, 0] + little(UInt32(2)) + [1, 5] + little(UInt32(2)) + [0, 6]
      + little(UInt64(0)) + [1, 1] + little(UInt32(2)) + [2, 5] + little(UInt32(0))
    let item = [1] + id(1) + [1, 0] + id(3) + little(UInt64(2)) + [2, 0] + rows
    let setting = [2, 1, 1] + lineage + little(UInt64(9))
    let slots = [3, 1] + lineage + [1] + id(2) + [1] + id(3) + little(UInt64(1))
    return values + little(UInt32(3)) + item + setting + slots
  }

  private static func written(_ pack: PackView) throws -> [UInt8] {
    var writer = try PackWriter()
    for value in pack.values { writer.add(value) }
    for record in pack.records {
      switch record {
      case .item(let id, let purged, let rows):
        try writer.add(item: id, purged: purged, rows: rows.count)
        for row in rows {
          try writer.add(
            row: row.number, row.protection, row.kind, meta: pack.meta(of: row),
            body: pack.body(of: row))
        }
      case .setting(let sides): try writer.add(sides)
      case .slots(let sides): try writer.add(sides)
      case .notes(let notes): try writer.add(notes)
      }
    }
    let all = try writer.finish()
    return copy(all.bytes)
  }

  private static var clear: [FuzzTarget] {
    let object = Array("KURAOBJ1".utf8) + [2] + [UInt8](repeating: 0, count: 7) + id(3) + [1, 2, 3]
    let header = VaultHeader(vault: identifier(1), format: .second).encoded
    let recovery = SlotHeader(kind: .recoveryKey, kdf: nil, salt: identifier(1), id: identifier(2))
    let slot =
      little(UInt16(48)) + recovery.encoded + little(UInt16(328))
      + [UInt8](repeating: 3, count: 328)
      + little(UInt16(104)) + [UInt8](repeating: 4, count: 104)
    return [
      same("remote-object", [object]) { input in
        let name = try RemoteObject.name(of: input.span)
        let body = try RemoteObject.body(of: input.span, .piece, in: epoch, named: name)
        return try RemoteObject.encode(.piece, in: epoch, body: body)
      },
      same("header-object", [header + [1] + slot]) {
        try HeaderObject(decoding: $0.span).encoded
      },
      FuzzTarget(
        name: "remote-path",
        seeds: [
          RemotePath.head(identifier(0x2a)).text,
          RemotePath.object(identifier(0x2a), hash: hash).text,
        ].map { Array($0.utf8) }
      ) { input throws(Flaw) in
        guard let text = String(validating: input, as: UTF8.self), let path = RemotePath(text)
        else { return false }
        try hold(Array(path.text.utf8) == input, "it is another name")
        return true
      },
    ]
  }

  /// Complains where what was read is not written as it was.
  private static func same(
    _ name: String, _ seeds: [[UInt8]], _ written: @escaping @Sendable ([UInt8]) throws -> [UInt8]
  ) -> FuzzTarget {
    FuzzTarget(name: name, seeds: seeds) { input throws(Flaw) in
      try isTaken {
        try hold(try written(input) == input, "it is written otherwise than it was read")
      }
    }
  }
}
