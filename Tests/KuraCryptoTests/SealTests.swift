// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCrypto

@Suite struct SealTests {
  private let associated: [UInt8] = Array("item 7".utf8)

  @Test(arguments: [0, 1, 16, 255, 256, 65_536])
  func `what was sealed opens to the same bytes`(count: Int) throws {
    let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let key = try key(from: 1)
    let sealed = try seal(plaintext, associated, under: key)
    #expect(sealed.count == count + Seal.overhead)
    let opened = try open(sealed, associated, under: key)
    #expect(opened == plaintext)
  }

  @Test func `no two seals are alike`() throws {
    let key = try key(from: 1)
    var seals: Set<[UInt8]> = []
    for _ in 0..<100 { seals.insert(try seal([], associated, under: key)) }
    #expect(seals.count == 100)
  }

  @Test func `another key is told apart from damage`() throws {
    let sealed = try sealed()
    #expect(throws: CryptoError.wrongKey) {
      _ = try open(sealed, associated, under: try key(from: 2))
    }
  }

  @Test(arguments: ["item 8", "item 7 ", "item ", ""])
  func `other associated data is refused like another key`(other: String) throws {
    let sealed = try sealed()
    #expect(throws: CryptoError.wrongKey) {
      _ = try open(sealed, Array(other.utf8), under: try key(from: 1))
    }
  }

  @Test func `each changed byte is noticed by the layer that it is in`() throws {
    let sealed = try sealed()
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      let expected: CryptoError = index < Seal.headCount ? .wrongKey : .damaged
      #expect(throws: expected) {
        _ = try open(changed, associated, under: try key(from: 1))
      }
    }
  }

  @Test func `each missing or added byte is noticed`() throws {
    let sealed = try sealed()
    for count in 0..<sealed.count {
      #expect(throws: CryptoError.damaged) {
        _ = try open(Array(sealed[..<count]), associated, under: try key(from: 1))
      }
    }
    #expect(throws: CryptoError.damaged) {
      _ = try open(sealed + [0], associated, under: try key(from: 1))
    }
  }

  @Test func `the layout is nonce, commitment, ciphertext, tag`() throws {
    // Taken apart with the functions that the published answers vouch for.
    let sealed = try sealed()
    let (nonce, label) = (Array(sealed[..<24]), Array("kura1/seal".utf8))
    let keys = try hash(
      [label, nonce, [6, 0, 0, 0], associated], key: try key(from: 1), count: 64)
    #expect(Array(sealed[24..<56]) == Array(keys[32...]))
    let (ciphertext, oneUse) = (Array(sealed[56...]), Array(keys[..<32]))
    let zero = [UInt8](repeating: 0, count: 24)
    var plaintext = [UInt8](repeating: 0, count: 5)
    var room = plaintext.mutableSpan
    let isAuthentic = AEAD.decrypt(
      ciphertext.span, authenticating: associated.span, nonce: zero.span, key: oneUse.span,
      into: &room)
    #expect(isAuthentic)
    #expect(plaintext == Array("value".utf8))
  }

  @Test(arguments: [0, 1, 254, 255, 256, 4095, 5000])
  func `a padded seal opens without its padding`(count: Int) throws {
    let plaintext = [UInt8](repeating: 0, count: count)
    let key = try key(from: 1)
    let sealed = try Seal.sealPadded(plaintext.span, authenticating: Span(), under: key)
    #expect(sealed.count == Seal.sealedPaddedCount(count))
    let opened = try Seal.openPadded(sealed.span, authenticating: Span(), under: key)
    #expect(bytes(opened.bytes) == plaintext)
    // The same bytes, whichever memory they are made in.
    let again = try Seal.sealPadded(again: plaintext, authenticating: Span(), under: key)
    #expect(again.count == sealed.count)
    for seal in [sealed, again] {
      let opened = try Seal.openPaddedAgain(seal.span, authenticating: Span(), under: key)
      #expect(opened == plaintext)
    }
    let fromAgain = try Seal.openPadded(again.span, authenticating: Span(), under: key)
    #expect(bytes(fromAgain.bytes) == plaintext)
  }

  @Test func `padding that is not the one there is counts as damage`() throws {
    var plaintexts = [[], [0x80], [UInt8](repeating: 0, count: 256)]
    plaintexts.append([UInt8](repeating: 7, count: 256))
    plaintexts.append([0x80] + [UInt8](repeating: 0, count: 511))
    plaintexts.append([0x80] + [UInt8](repeating: 0, count: 254) + [1])
    for plaintext in plaintexts {
      let sealed = try seal(plaintext, [], under: try key(from: 1))
      #expect(throws: CryptoError.damaged) {
        let key = try key(from: 1)
        _ = try Seal.openPadded(sealed.span, authenticating: Span(), under: key)
      }
      #expect(throws: CryptoError.damaged) {
        let key = try key(from: 1)
        _ = try Seal.openPaddedAgain(sealed.span, authenticating: Span(), under: key)
      }
    }
  }

  /// "value" under the key from 1.
  private func sealed() throws -> [UInt8] {
    try seal(Array("value".utf8), associated, under: try key(from: 1))
  }
}
