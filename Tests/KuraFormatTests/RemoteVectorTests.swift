// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@testable import KuraFormat

/// What the reference wrote for a store: what it takes is taken and written again to the byte, what it refuses is refused.
@Suite struct RemoteVectorTests {
  private static let lines = RecordLine.all(of: "remote-1.txt")
  private static let vault: VaultID = identifier(1)
  private static let device: DeviceID = identifier(2)
  private static let epoch: DeviceTable.Epoch = identifier(3)
  private static let value: ValueID = identifier(4)

  private static func pair() throws -> SigningPair { try seed().pair() }

  private static func seed() throws -> DeviceSeed {
    DeviceSeed(vault: vault, device: device, seed: try key(from: 0).finish())
  }

  @Test(arguments: [
    "front", "inner", "pack", "cut", "epoch", "object", "piece", "chain", "header", "seed", "keys",
    "sealed",
  ])
  func `both readers agree on each`(kind: String) throws {
    let lines = Self.lines.filter { $0.kind == kind }
    #expect(lines.contains { $0.isGood })
    #expect(kind == "keys" || lines.contains { !$0.isGood })
    for line in lines {
      let written = Result { try again(kind, line.record) }
      switch written {
      case .success(let bytes):
        #expect(line.isGood && bytes == line.record, "\(line.what)")
      case .failure(let error):
        #expect(!line.isGood, "\(line.what)")
        let refusals: [FormatError] = [.damaged, .notAVault]
        #expect(
          (error as? FormatError).map(refusals.contains) ?? (error is CryptoError), "\(line.what)")
      }
    }
  }

  @Test func `there is no kind of record that no reader knows`() {
    #expect(Set(Self.lines.map(\.kind)).count == 12)
    #expect(Self.lines.count > 130)
  }

  private func again(_ kind: String, _ record: [UInt8]) throws -> [UInt8] {
    switch kind {
    case "front":
      var head = try RemoteHead(decoding: record.span)
      return head.signed(with: try Self.pair())
    case "inner": return try HeadReport(decoding: record.span).encoded
    case "pack": return try packed(record)
    case "cut": return try EpochCut(decoding: record.span).encoded
    case "epoch": return try epochAgain(record)
    case "object": return try objectAgain(record)
    case "piece":
      let piece = try PieceView(decoding: record.span)
      return PieceView.encode((0..<piece.count).map { bytes(piece.chunk($0)) })
    case "chain":
      let ids: [HeadID] = try RemoteBlock.decode(record.span, isWhole: true)
      return RemoteBlock.encode(ids)
    case "header": return try HeaderObject(decoding: record.span).encoded
    case "seed": return try seedAgain(record)
    case "keys": return try keysAgain(record)
    default: return try sealedAgain(record)
    }
  }

  private func packed(_ record: [UInt8]) throws -> [UInt8] {
    let pack = try PackView(decoding: record.span)
    var writer = try PackWriter()
    for value in pack.values.reversed() { writer.add(value) }
    for found in pack.records {
      switch found {
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
    #expect(writer.isEmpty == pack.records.isEmpty)
    let count = writer.byteCount
    let written = try writer.finish()
    #expect(written.count == count)
    return bytes(written.bytes)
  }

  /// The parents' vault keys are 32 times their place.
  private func proofKey(_ place: Int, _ vault: [UInt8]) throws -> Key {
    let key = try Key(copying: digest(UInt8(place)).span)
    return try key.subkey(.epoch, vault: vault.span)
  }

  private func epochAgain(_ record: [UInt8]) throws -> [UInt8] {
    var epoch = try EpochRecord(decoding: record.span)
    let (vault, parents) = (epoch.vault.bytes, epoch.parents)
    for (place, parent) in parents.enumerated() {
      let own = try proofKey(place, vault)
      let other = try proofKey(place + 1, vault)
      #expect(try epoch.isProved(for: parent, under: own))
      #expect(try !epoch.isProved(for: parent, under: other))
      #expect(try !epoch.isProved(for: Self.epoch, under: own))
    }
    return try epoch.signed(with: try Self.pair()) { parent throws(FormatError) in
      guard let place = parents.firstIndex(of: parent),
        let key = try? proofKey(place, vault)
      else { throw .damaged }
      return key
    }
  }

  private func objectAgain(_ record: [UInt8]) throws -> [UInt8] {
    let kind = try #require(RemoteObject.Kind(rawValue: record[8]))
    let name = try RemoteObject.name(of: record.span)
    let body = try RemoteObject.body(of: record.span, kind, in: Self.epoch, named: name)
    return try RemoteObject.encode(kind, in: Self.epoch, body: body)
  }

  private func seedAgain(_ record: [UInt8]) throws -> [UInt8] {
    let key = try key(from: 32)
    let seed = try DeviceSeed.open(
      record.span, under: key, vault: Self.vault, device: Self.device)
    #expect(try seed.pair().publicHalf == Self.pair().publicHalf)
    let file = try seed.file(under: key)
    let again = try DeviceSeed.open(file.span, under: key, vault: Self.vault, device: Self.device)
    #expect(try again.pair().publicHalf == Self.pair().publicHalf)
    // Each is sealed with a nonce of its own.
    #expect(file.count == record.count && file != record)
    #expect(file.prefix(40) == record.prefix(40))
    return record
  }

  /// `VK 32 ‖ seed 32 ‖ revision id 16`, then all that comes of them.
  private func keysAgain(_ record: [UInt8]) throws -> [UInt8] {
    #expect(record.prefix(32) == bytes(of: try key(from: 32))[...])
    let vault = Self.vault.bytes
    let remote = try key(from: 32).subkey(.remote, vault: vault.span)
    let proof = try key(from: 32).subkey(.epoch, vault: vault.span)
    let seed = try Self.seed()
    let own = try seed.ownKey()
    let twin = try seed.twin(from: identifier(4))
    let twinSeed = try SigningPair(seed: secret(Array(record[224...])))
    #expect(try twin.pair().publicHalf == twinSeed.publicHalf)
    let publicHalf = try seed.pair().publicHalf
    let found = [bytes(remote.bytes), bytes(proof.bytes), bytes(own.bytes), publicHalf]
    return Array(record.prefix(80)) + found.joined() + twin.device.bytes + record[224...]
  }

  /// `u8 kind ‖ seal(…)` as it stands in an object of that kind, or in a head.
  private func sealedAgain(_ record: [UInt8]) throws -> [UInt8] {
    let kind = RemoteObject.Kind(rawValue: record[0])
    let seed = try Self.seed()
    let vault = Self.vault.bytes
    let key =
      try kind == .journal ? seed.ownKey() : key(from: 32).subkey(.remote, vault: vault.span)
    let place = place(of: kind)
    let sealed = Array(record.dropFirst())
    let plain = try Seal.openPadded(sealed.span, authenticating: place.span, under: key)
    #expect(bytes(plain.bytes) == Array("sealed".utf8))
    return record
  }

  private func place(of kind: RemoteObject.Kind?) -> AssociatedData {
    if kind == .journal {
      return .ownChanges(after: 2_048, vault: Self.vault, device: Self.device)
    }
    guard kind == .piece else {
      return .remote(kind, vault: Self.vault, device: Self.device, epoch: Self.epoch)
    }
    return .piece(
      of: Self.value, from: 16, vault: Self.vault, device: Self.device, epoch: Self.epoch)
  }
}
