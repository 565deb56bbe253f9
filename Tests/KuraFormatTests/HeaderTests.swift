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
    for cut in cuts(header.encoded) where cut.count >= 4 {
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

  @Test(arguments: [(5, .later), (6, .later), (8, .later), (255, .later)] as [(UInt8, SlotKind)])
  func `of a kind of later releases only the id is read`(byte: UInt8, kind: SlotKind) throws {
    var bytes = [UInt8](repeating: 0xA5, count: 48)
    bytes[0] = byte
    bytes.replaceSubrange(32..<48, with: [UInt8](repeating: 3, count: 16))
    for more in [0, 1, 65_536 - 48] {
      let header = try decode(bytes + [UInt8](repeating: 9, count: more))
      #expect((header.kind, header.id, header.kdf == nil) == (kind, identifier(3), true))
      #expect(!header.kind.isKnown)
    }
    let long = bytes + [UInt8](repeating: 9, count: 65_537 - 48)
    #expect(failure { _ = try decode(long) } == .damaged)
    #expect(failure { _ = try decode(Array(bytes.dropLast())) } == .damaged)
  }

  @Test func `behind the header of a TPM's slot stands what the TPM made`() throws {
    let chip = try #require(
      ChipObject(storageKey: [1, 2], publicArea: [3], privateArea: [4, 5, 6]))
    let body: [UInt8] = [12, 0, 2, 0, 1, 2, 1, 0, 3, 3, 0, 4, 5, 6]
    for kdf in [KDFParameters(memory: 8_192, passes: 2), nil] {
      let header = SlotHeader(
        kind: .tpm2, kdf: kdf, salt: identifier(1), id: identifier(2), chip: chip)
      #expect(header.encoded.count == 62)
      #expect(Array(header.encoded[48...]) == body)
      let read = try decode(header.encoded)
      #expect(read == header && read.chip == chip)
      // Of any other shape it is kept as a later release's.
      for other in [header.encoded + [0], header.encoded.dropLast(), header.encoded[..<48] + []] {
        let read = try decode(other + [])
        #expect(read.kind == .later && read.id == identifier(2) && read.chip == nil)
      }
    }
    #expect(ChipObject(storageKey: [], publicArea: [3], privateArea: [4]) == nil)
    let long = [UInt8](repeating: 1, count: 681)
    #expect(ChipObject(storageKey: [1], publicArea: long, privateArea: [4]) == nil)
  }

  @Test func `behind the header of a security key's slot stands what the key made`() throws {
    for isVerified in [true, false] {
      let made = try #require(KeyCredential(id: [7, 8, 9], isVerified: isVerified))
      let header = SlotHeader(
        kind: .fido2, kdf: nil, salt: identifier(1), id: identifier(2), credential: made)
      let bytes = header.encoded
      #expect(Array(bytes[48...]) == [6, 0, isVerified ? 1 : 0, 3, 0, 7, 8, 9])
      let read = try decode(bytes)
      #expect(read == header && read.credential == made && read.chip == nil)
      #expect(
        SlotKind.fido2.hasShape(key: 328, protected: 0)
          && !SlotKind.fido2.hasShape(key: 1, protected: 0))
      // Of any other shape it is kept as a later release's.
      var (flagged, costly) = (bytes, bytes)
      flagged[50] = 2
      costly.replaceSubrange(1..<16, with: [1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0])
      for other in [bytes + [0], bytes.dropLast() + [], Array(bytes[..<48]), flagged, costly] {
        let read = try decode(other)
        #expect(read.kind == .later && read.id == identifier(2) && read.credential == nil)
      }
    }
    #expect(KeyCredential(id: [], isVerified: false) == nil)
    #expect(KeyCredential(id: [UInt8](repeating: 1, count: 1_024), isVerified: false) == nil)
  }

  @Test func `of a disabled slot nothing but the id stands in clear`() throws {
    let header = SlotHeader(disabled: identifier(3))
    let bytes = [7] + [UInt8](repeating: 0, count: 31) + [UInt8](repeating: 3, count: 16)
    #expect(header.encoded == bytes)
    #expect(try decode(bytes) == header)
    #expect(!header.kind.isKnown && header.kdf == nil)
    for index in 1..<32 {
      var other = bytes
      other[index] = 1
      #expect(failure { _ = try decode(other) } == .damaged, "byte \(index)")
    }
    #expect(failure { _ = try decode(bytes + [0]) } == .damaged)
    for cut in cuts(bytes) { #expect(failure { _ = try decode(cut) } == .damaged) }
  }

  @Test func `a disabled slot keeps its columns as they were, and its id`() throws {
    let slot = DisabledSlot(
      header: passcode.encoded, key: Array(repeating: 4, count: 328),
      protected: Array(repeating: 5, count: 104))
    let bytes = slot.encoded
    #expect(bytes.count == 6 + 48 + 328 + 104)
    #expect(Array(bytes[..<2]) == [48, 0])
    #expect(try DisabledSlot(decoding: bytes.span, slot: identifier(2)) == slot)
    #expect(failure { _ = try DisabledSlot(decoding: bytes.span, slot: identifier(1)) } == .damaged)
    for cut in cuts(bytes) {
      #expect(failure { _ = try DisabledSlot(decoding: cut.span, slot: identifier(2)) } == .damaged)
    }
    let twice = DisabledSlot(
      header: SlotHeader(disabled: identifier(2)).encoded, key: bytes, protected: [])
    #expect(
      failure { _ = try DisabledSlot(decoding: twice.encoded.span, slot: identifier(2)) }
        == .damaged)
  }

  @Test func `a cost that Argon2id does not have is damage, and no high price`() {
    for (passes, memory) in [(0, 8192), (1, 8191), (1, 7168), (1, 0), (1, 8193)] {
      let cost = little(UInt32(passes)) + little(UInt64(memory))
      let bytes = Array(passcode.encoded[..<4]) + cost + passcode.encoded[16...]
      #expect(failure { _ = try decode(bytes) } == .damaged, "\(passes) \(memory)")
    }
  }

  @Test func `kinds and derivations that do not fit are damage`() {
    let changes: [[Int: UInt8]] = [
      [0: 0], [0: 2], [0: 3], [1: 0], [1: 2], [2: 1], [3: 1],
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
