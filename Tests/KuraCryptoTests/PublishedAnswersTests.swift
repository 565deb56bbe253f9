// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCrypto

/// What we call is what libsodium and the drafts say it is.
@Suite struct PublishedAnswersTests {
  @Test func `no vector file is missing or empty`() {
    #expect(Vector.all(in: "libsodium/argon2id.txt").count == 7)
    #expect(Vector.all(in: "libsodium/blake2b.txt").count == 49)
    #expect(Vector.all(in: "libsodium/xchacha20-poly1305.txt").count == 2)
    #expect(Vector.all(in: "seal/two-keys.txt").count == 2)
  }

  @Test(arguments: Vector.all(in: "libsodium/argon2id.txt"))
  func `Argon2id gives libsodium's answers`(vector: Vector) throws {
    let expected = try vector.bytes("hash")
    let (passcode, salt) = (try vector.bytes("passcode"), try vector.bytes("salt"))
    let hash = try Argon2id.derive(
      passcode.span, salt: salt.span, memory: try vector.number("memory"),
      passes: UInt32(try vector.number("passes")), count: expected.count)
    #expect(bytes(hash.bytes) == expected)
  }

  @Test(arguments: Vector.all(in: "libsodium/blake2b.txt"))
  func `keyed BLAKE2b gives libsodium's answers`(vector: Vector) throws {
    let expected = try vector.bytes("hash")
    let (key, input) = (try vector.bytes("key"), try vector.bytes("input"))
    var hash = try KeyedHash(keyBytes: key.span, byteCount: expected.count)
    hash.update(input.span)
    let secret = try hash.finalizeSecret()
    #expect(bytes(secret.bytes) == expected)
  }

  @Test(arguments: Vector.all(in: "libsodium/xchacha20-poly1305.txt"))
  func `XChaCha20-Poly1305 gives the published answers both ways`(vector: Vector) throws {
    let (plaintext, expected) = (try vector.bytes("plaintext"), try vector.bytes("sealed"))
    let (key, nonce) = (try vector.bytes("key"), try vector.bytes("nonce"))
    let associated = try vector.bytes("associated")
    var sealed = [UInt8](repeating: 0, count: expected.count)
    var target = sealed.mutableSpan
    AEAD.encrypt(
      plaintext.span, authenticating: associated.span, nonce: nonce.span, key: key.span,
      into: &target, at: 0)
    #expect(sealed == expected)
    var opened = [UInt8](repeating: 0, count: plaintext.count)
    var room = opened.mutableSpan
    let isAuthentic = AEAD.decrypt(
      expected.span, authenticating: associated.span, nonce: nonce.span, key: key.span,
      into: &room)
    #expect(isAuthentic)
    #expect(opened == plaintext)
  }
}
