// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCrypto

/// The attack that the commitment is there for.
@Suite struct TwoKeysTests {
  private let vector: Vector

  init() throws {
    vector = try #require(Vector.all(in: "seal/two-keys.txt").last)
  }

  @Test(arguments: [1, 2])
  func `the bare cipher takes one ciphertext under both keys`(number: Int) throws {
    let plaintext = try vector.bytes("plaintext \(number)")
    let (ciphertext, key) = (
      try vector.bytes("ciphertext"), try vector.bytes("one-use key \(number)")
    )
    let (associated, nonce) = (
      try vector.bytes("associated"), [UInt8](repeating: 0, count: AEAD.nonceCount)
    )
    var opened = [UInt8](repeating: 0, count: plaintext.count)
    var target = opened.mutableSpan
    let isAuthentic = AEAD.decrypt(
      ciphertext.span, authenticating: associated.span, nonce: nonce.span, key: key.span,
      into: &target)
    #expect(isAuthentic)
    #expect(opened == plaintext)
  }

  @Test(arguments: [(1, 2), (2, 1)])
  func `the seal takes it under the committed key only`(committed: Int, other: Int) throws {
    let plaintext = try vector.bytes("plaintext \(committed)")
    #expect(try open(commitment: committed, key: committed) == plaintext)
    #expect(throws: CryptoError.wrongKey) { try open(commitment: committed, key: other) }
  }

  @Test(arguments: [1, 2])
  func `a commitment of neither key is refused`(key: Int) throws {
    #expect(throws: CryptoError.wrongKey) { try open(commitment: nil, key: key) }
  }

  /// Opens the ciphertext behind a commitment.
  private func open(commitment: Int?, key number: Int) throws -> [UInt8] {
    var sealed = try vector.bytes("nonce")
    if let commitment {
      sealed += try vector.bytes("commitment \(commitment)")
    } else {
      sealed += [UInt8](repeating: 0, count: Seal.commitmentCount)
    }
    sealed += try vector.bytes("ciphertext")
    let keyBytes = try vector.bytes("key \(number)")
    let key = try Key(copying: keyBytes.span)
    return try KuraCryptoTests.open(sealed, try vector.bytes("associated"), under: key)
  }
}
