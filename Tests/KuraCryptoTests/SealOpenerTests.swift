// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCrypto

/// It opens what ``Seal`` opens, and nothing else.
@Suite struct SealOpenerTests {
  private let associated: [UInt8] = Array("item 7".utf8)

  private func sealed(_ count: Int, from start: UInt8 = 1) throws -> (plain: [UInt8], [UInt8]) {
    let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let sealed = try Seal.sealPadded(
      plaintext.span, authenticating: associated.span, under: try key(from: start))
    return (plaintext, sealed)
  }

  @Test func `one after the other opens, whatever its length`() throws {
    var opener = try SealOpener(key: try key(from: 1))
    for count in [0, 300, 1, 255, 256, 70_000, 511, 0, 5_000, 16] {
      let (plaintext, sealed) = try sealed(count)
      try opener.openPadded(sealed.span, authenticating: associated.span)
      #expect(bytes(opener.plaintext) == plaintext)
    }
  }

  @Test func `another key, other data and damage are refused, and nothing is shown`() throws {
    var opener = try SealOpener(key: try key(from: 1))
    let (plaintext, whole) = try sealed(40)
    let foreign = try sealed(40, from: 2).1
    let other = Array("item 8".utf8)
    func refusal(_ sealed: [UInt8], _ associated: [UInt8]) -> CryptoError? {
      do throws(CryptoError) {
        try opener.openPadded(sealed.span, authenticating: associated.span)
        return nil
      } catch { return error }
    }
    #expect(refusal(whole, associated) == nil)
    #expect(refusal(foreign, associated) == .wrongKey)
    #expect(bytes(opener.plaintext) == [])
    #expect(refusal(whole, other) == .wrongKey)
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 1
      #expect(refusal(changed, associated) == (index < Seal.headCount ? .wrongKey : .damaged))
      #expect(bytes(opener.plaintext) == [])
    }
    for count in 0..<whole.count where count % 16 == 0 {
      #expect(refusal(Array(whole[..<count]), associated) == .damaged)
    }
    #expect(refusal(whole, associated) == nil)
    #expect(bytes(opener.plaintext) == plaintext)
  }

  @Test func `a plaintext that is not padded as it must be is refused`() throws {
    var opener = try SealOpener(key: try key(from: 1))
    let unpadded = [UInt8](repeating: 0, count: 256)
    let sealed = try Seal.seal(
      unpadded.span, authenticating: associated.span, under: try key(from: 1))
    #expect(throws: CryptoError.damaged) {
      try opener.openPadded(sealed.span, authenticating: associated.span)
    }
    #expect(bytes(opener.plaintext) == [])
  }
}

@Suite struct PreparedHashTests {
  @Test(arguments: [16, 32, 64])
  func `a prepared hash comes to the same, however often it is begun`(byteCount: Int) throws {
    let key = try key(from: 3)
    let start = try KeyedHash.prepared(key: key, byteCount: byteCount)
    var again = try KeyedHash(key: key, byteCount: byteCount)
    for count in Array(1...300) + [1_000, 4_096] {
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ count) }
      var plain = try KeyedHash(key: key, byteCount: byteCount)
      plain.update(message.span)
      again.restart(from: start)
      again.update(message.span)
      let found = take(&again, byteCount)
      let expected = bytes(of: try plain.finalizeSecret())
      #expect(found == expected)
    }
  }

  @Test func `with this libsodium the key is worked in early`() throws {
    // Without it all stays right, and walks over many items take a fifth longer.
    let isEarly = try KeyedHash.isKeyWorkedInEarly
    #expect(isEarly)
  }

  private func take(_ hash: inout KeyedHash, _ byteCount: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: byteCount)
    var target = result.mutableSpan
    hash.finish(into: &target)
    return result
  }
}
