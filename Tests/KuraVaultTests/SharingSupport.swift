// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import KuraStorage
import SecureMemory
import Testing

@testable import KuraVault

/// Words for tests of vaults that remember a store.
enum Shared {
  static let epoch: DeviceTable.Epoch = mark(3)

  static func mark<Subject>(_ byte: UInt8) -> Identifier<Subject> {
    let bytes = [UInt8](repeating: byte, count: 16)
    return Identifier(bytes.span)
  }

  /// A vault that has begun to remember a store, and holds nothing yet.
  static func file(wantsRecoveryKey: Bool = false) throws -> TestVault {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat(wantsRecoveryKey: wantsRecoveryKey)
    try file.takeOver()
    try file.fill { vault throws in try vault.beginStore() }
    return file
  }

  /// A head that nobody would read, and its place.
  static func head(_ number: UInt64, _ text: String) throws -> (bytes: [UInt8], place: HeadPlace) {
    let bytes = Array(text.utf8)
    return (bytes, HeadPlace(number: number, id: try HeadID(of: bytes.span)))
  }

  static func place(
    _ value: ValueID, of device: DeviceID, pieces: Int = 1, chunks: UInt64 = 1
  ) throws -> ValuePlace {
    let piece = PackedValue.Piece(hash: [UInt8](repeating: 9, count: 32), length: 1_000)
    let value = PackedValue(value, of: device, in: Array(repeating: piece, count: pieces))
    return try ValuePlace(value, chunkCount: chunks)
  }
}

extension UnlockedVault {
  mutating func beginStore() throws(VaultError) {
    _ = try ownDevice()
    try beginSharing(
      record: Array("record".utf8), in: Shared.epoch, key: [UInt8](repeating: 5, count: 32),
      label: Array("desk".utf8))
  }

  /// The values that stand in chunks.
  mutating func longValues() throws -> [ValueID] {
    try rows.storage.beginRead()
    defer { rows.storage.end() }
    var found: [ValueID] = []
    _ = try rows.storage.chunkKeys(after: .first, limit: 1_000) { key in
      let value = ValueID(key.id.span)
      if found.last != value { found.append(value) }
    }
    return found
  }

  /// Notes a device, and keeps a head of it.
  mutating func keep(_ head: (bytes: [UInt8], place: HeadPlace), of device: DeviceID) throws {
    try remember { memory, devices throws(VaultError) in
      guard var note = try? DeviceNote(device: device) else { return [] }
      (note.heard, note.taken) = (head.place, head.place)
      _ = devices.set(note)
      return [KeptHead(device: device, bytes: head.bytes)]
    }
  }
}
