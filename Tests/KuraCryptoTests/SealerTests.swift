// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCrypto

/// What it seals is what ``Seal`` seals.
@Suite struct SealerTests {
  private let associated: [UInt8] = Array("item 7".utf8)

  private func sealed(
    _ plaintext: [UInt8], by sealer: inout Sealer, nonce: consuming Nonce
  ) throws -> [UInt8] {
    try sealer.plaintext.append(plaintext.span)
    return try sealer.sealPadded(authenticating: associated.span, nonce: nonce)
  }

  @Test func `one after the other opens, whatever its length`() throws {
    var sealer = try Sealer(key: try key(from: 1))
    for count in [0, 300, 1, 255, 256, 70_000, 511, 0, 5_000, 16] {
      let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let whole = try sealed(plaintext, by: &sealer, nonce: try Nonce.random())
      #expect(whole.count == Seal.sealedPaddedCount(count))
      let opened = try Seal.openPadded(
        whole.span, authenticating: associated.span, under: try key(from: 1))
      #expect(bytes(opened.bytes) == plaintext)
      let left = sealer.plaintext.count
      #expect(left == 0)
    }
  }

  @Test func `under one nonce it is the same to the byte`() throws {
    var sealer = try Sealer(key: try key(from: 1))
    for count in [0, 40, 255] {
      let plaintext = [UInt8](repeating: 3, count: count)
      let nonce = try Nonce.random()
      var same = try Nonce.random()
      same.bytes = nonce.bytes
      var target = [UInt8](repeating: 0, count: Seal.sealedPaddedCount(count))
      let padded = try Padding.pad(plaintext.span)
      let key = try key(from: 1)
      var bytes = target.mutableSpan
      try Seal.seal(
        padded.bytes, authenticating: associated.span, under: key, nonce: same, into: &bytes)
      #expect(try sealed(plaintext, by: &sealer, nonce: nonce) == target)
    }
  }

  @Test func `each is bound to its data and its key`() throws {
    var sealer = try Sealer(key: try key(from: 1))
    let whole = try sealed([1, 2, 3], by: &sealer, nonce: try Nonce.random())
    for (data, start) in [(Array("item 8".utf8), UInt8(1)), (associated, 2)] {
      #expect(throws: CryptoError.wrongKey) {
        _ = try Seal.openPadded(
          whole.span, authenticating: data.span, under: try key(from: start))
      }
    }
  }
}
