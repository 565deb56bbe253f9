// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct SlotSecretTests {
  private let vault: VaultID = identifier(9)
  private let salt: Salt = identifier(3)

  @Test func `a recovery key hashes label and salt under itself`() throws {
    let bits = (0..<20).map { UInt8($0) }
    let secret = try SlotSecret(recoveryKey: RecoveryKey(try secret(bits)), salt: salt)
    var expected = try KeyedHash(keyBytes: bits.span)
    expected.update(Label.recoveryKey)
    let saltBytes = salt.bytes
    expected.update(saltBytes.span)
    try expectKeys(of: secret, from: Key(try expected.finalizeSecret()))
  }

  @Test func `a key file hashes label, salt, length and its bytes`() throws {
    let file = (0..<100).map { UInt8($0) }
    let secret = try SlotSecret(keyFile: file.span, salt: salt)
    var expected = try KeyedHash(keyBytes: Span())
    let parts = [Array("kura1/key-file".utf8), salt.bytes, little(UInt64(100)), file]
    for part in parts { expected.update(part.span) }
    try expectKeys(of: secret, from: Key(try expected.finalizeSecret()))
  }

  @Test func `a passcode goes through Argon2id`() throws {
    let (passcode, saltBytes) = (Array("passcode".utf8), salt.bytes)
    let cost = KDFParameters(memory: 16 << 10, passes: 2)
    let secret = try SlotSecret(passcode: passcode.span, salt: salt, cost: cost)
    let expected = try Argon2id.derive(
      passcode.span, salt: saltBytes.span, memory: 16 << 10, passes: 2)
    try expectKeys(of: secret, from: Key(expected))
  }

  private func expectKeys(of secret: borrowing SlotSecret, from expected: consuming Key) throws {
    let header = SlotHeader(kind: .keyFile, kdf: nil, salt: salt, id: identifier(4))
    let bound = vault.bytes + header.encoded
    let kek = bytes(of: try secret.keyEncryptionKey(vault: vault, header: header))
    let protected = bytes(of: try secret.protectedKeyEncryptionKey(vault: vault, header: header))
    #expect(try kek == hash([Array("kura1/kek".utf8), bound], key: expected))
    #expect(try protected == hash([Array("kura1/kek-protected".utf8), bound], key: expected))
  }
}

@Suite struct SlotPayloadTests {
  @Test func `a payload is vault key, time, label`() throws {
    let payload = try SlotPayload(
      vaultKey: try key(from: 0), created: 5, label: Array("Büro".utf8))
    let encoded = bytes(of: try payload.encode())
    let expected =
      (0..<32).map { UInt8($0) } + little(UInt64(5)) + [5, 0] + Array("Büro".utf8)
    #expect(encoded == expected)
    let decoded = try SlotPayload.decode(encoded.span)
    #expect(decoded.created == 5)
    #expect(decoded.label == Array("Büro".utf8))
    #expect(bytes(decoded.vaultKey.bytes) == (0..<32).map { UInt8($0) })
  }

  @Test func `a label is short UTF-8 without control characters`() throws {
    for label in [[UInt8](repeating: 97, count: 65), [0xFF], [10]] {
      let refused = failure {
        _ = try SlotPayload(vaultKey: key(from: 0), created: 1, label: label)
      }
      #expect(refused == .damaged)
      let encoded = [UInt8](repeating: 0, count: 40) + little(UInt16(label.count)) + label
      #expect(failure { _ = try SlotPayload.decode(encoded.span) } == .damaged)
    }
  }

  @Test func `cut or mutated payloads are refused or read, never a trap`() throws {
    let payload = try SlotPayload(vaultKey: try key(from: 0), created: 5, label: [97, 98])
    let encoded = bytes(of: try payload.encode())
    for cut in cuts(encoded) {
      #expect(failure { _ = try SlotPayload.decode(cut.span) } == .damaged)
    }
    for changed in Mutations(of: encoded) {
      _ = failure { _ = try SlotPayload.decode(changed.span) }
    }
  }
}
