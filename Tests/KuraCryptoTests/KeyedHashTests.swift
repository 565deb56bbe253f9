// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@Suite struct KeyedHashTests {
  @Test func `parts hash like the whole`() throws {
    let whole = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
    let expected = try digest { hash in hash.update(whole.span) }
    for cut in [0, 1, 127, 128, 129, 500] {
      let parts = try digest { hash in
        let (head, tail) = (Array(whole[..<cut]), Array(whole[cut...]))
        hash.update(head.span)
        hash.update(tail.span)
      }
      #expect(parts == expected)
    }
  }

  @Test func `an integer is hashed with its least significant byte first`() throws {
    let integers = try digest { hash in
      hash.update(integer: UInt32(0x0403_0201))
      hash.update(integer: UInt8(5))
    }
    let plain = try digest { hash in
      let bytes: [UInt8] = [1, 2, 3, 4, 5]
      hash.update(bytes.span)
    }
    #expect(integers == plain)
  }

  @Test func `a label is hashed as its ASCII bytes`() throws {
    let label = try digest { hash in hash.update(Label.keyEncryptionKey) }
    let plain = try digest { hash in
      let text = Array("kura1/kek".utf8)
      hash.update(text.span)
    }
    #expect(label == plain)
  }

  @Test func `without a key it is plain BLAKE2b`() throws {
    // RFC 7693, appendix A.
    var hash = try KeyedHash(keyBytes: Span(), byteCount: 64)
    let text = Array("abc".utf8)
    hash.update(text.span)
    let expected =
      "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
      + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
    #expect(hexadecimal(bytes(of: try hash.finalizeSecret())) == expected)
  }

  @Test func `a digest compares by all of its bytes`() throws {
    let one = try digest { hash in hash.update(integer: UInt8(1)) }
    let two = try digest { hash in hash.update(integer: UInt8(2)) }
    #expect(one != two)
    let (whole, part) = (one.bytes, Array(one.bytes.dropLast()))
    #expect(one == Digest(whole.span))
    #expect(one.isEqual(to: whole.span) == true)
    #expect(one.isEqual(to: part.span) == false)
    #expect(Set([one, two, one]).count == 2)
    #expect(Digest.zero.bytes == [UInt8](repeating: 0, count: 32))
  }

  private func digest(_ body: (inout KeyedHash) -> Void) throws -> Digest {
    var hash = try KeyedHash(key: try key(from: 3))
    body(&hash)
    return hash.finalize()
  }
}
