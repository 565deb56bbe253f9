// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@Suite struct VaultHeaderTests {
  private let header = VaultHeader(vault: identifier(7))

  @Test func `a header is magic, format, zero, vault id`() throws {
    let expected = Array("KURA".utf8) + [1, 0, 0, 0] + [UInt8](repeating: 7, count: 16)
    #expect(header.encoded == expected)
    #expect(try decode(expected) == header)
  }

  @Test(arguments: [[], Array("KURB".utf8) + [1, 0, 0, 0], Array("SQLite format 3\0".utf8)])
  func `another file is no vault`(file: [UInt8]) {
    #expect(failure { _ = try decode(file) } == .notAVault)
  }

  @Test func `a later format is named, whatever follows`() {
    var bytes = header.encoded
    bytes[4] = 2
    bytes[6] = 9
    #expect(failure { _ = try decode(bytes) } == .newerFormat(2))
    bytes[5] = 1
    #expect(failure { _ = try decode(Array(bytes[..<10])) } == .newerFormat(258))
  }

  @Test func `format 0, reserved bytes and other lengths are damage`() {
    for (index, byte) in [(4, 0), (6, 1), (7, 1)] {
      var bytes = header.encoded
      bytes[index] = UInt8(byte)
      #expect(failure { _ = try decode(bytes) } == .damaged)
    }
    for cut in cuts(header.encoded) where cut.count >= 8 {
      #expect(failure { _ = try decode(cut) } == .damaged)
    }
  }

  private func decode(_ bytes: [UInt8]) throws -> VaultHeader {
    try VaultHeader(decoding: bytes.span)
  }
}

@Suite struct SlotHeaderTests {
  private let passcode = SlotHeader(
    kind: .passcode, kdf: KDFParameters(memory: 256 << 20, passes: 3), salt: identifier(1),
    id: identifier(2))

  @Test func `a header is kind, kdf, zero, passes, memory, salt, id`() throws {
    let expected =
      [1, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 16)
      + [UInt8](repeating: 2, count: 16)
    #expect(passcode.encoded == expected)
    #expect(try decode(expected) == passcode)
    let recovery = SlotHeader(kind: .recoveryKey, kdf: nil, salt: identifier(1), id: identifier(2))
    #expect(Array(recovery.encoded[..<16]) == [2] + [UInt8](repeating: 0, count: 15))
    #expect(try decode(recovery.encoded) == recovery)
  }

  @Test(arguments: [5, 6] as [UInt8])
  func `kinds of later releases are read`(kind: UInt8) throws {
    var bytes = SlotHeader(kind: .keyFile, kdf: nil, salt: .zero, id: .zero).encoded
    bytes[0] = kind
    #expect(try decode(bytes).kind.rawValue == kind)
  }

  @Test func `kinds and derivations that do not fit are damage`() {
    let changes: [[Int: UInt8]] = [
      [0: 0], [0: 7], [0: 2], [0: 3], [1: 0], [1: 2], [2: 1], [3: 1],
      [1: 0, 4: 0], [1: 0, 4: 0, 11: 0],
    ]
    for change in changes {
      var bytes = passcode.encoded
      for (index, byte) in change { bytes[index] = byte }
      #expect(failure { _ = try decode(bytes) } == .damaged, "\(change)")
    }
  }

  @Test func `other lengths are damage`() {
    for cut in cuts(passcode.encoded) {
      #expect(failure { _ = try decode(cut) } == .damaged)
    }
  }

  private func decode(_ bytes: [UInt8]) throws -> SlotHeader {
    try SlotHeader(decoding: bytes.span)
  }
}
