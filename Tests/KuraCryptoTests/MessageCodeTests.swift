// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCrypto

@Suite struct MessageCodeTests {
  /// FIPS 180-4's examples, and the lengths at which a block more begins.
  @Test(arguments: [
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
    ),
    (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
    (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
  ])
  func `SHA-1 gives the published answers`(text: String, expected: String) throws {
    let input = Array(text.utf8)
    #expect(hexadecimal(bytes(of: try SHA1.hash(input.span))) == expected)
    let (head, tail) = (Array(input.prefix(3)), Array(input.dropFirst(3)))
    #expect(hexadecimal(bytes(of: try SHA1.hash(head.span, tail.span))) == expected)
  }

  @Test func `SHA-1 gives the published answer for a million letters`() throws {
    let input = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    let hash = hexadecimal(bytes(of: try SHA1.hash(input.span)))
    #expect(hash == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
  }

  /// RFC 2202 §3.
  static let shortCodes: [([UInt8], [UInt8], String)] = [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b617318655057264e28bc0b6fb378c8ef146be00"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
    ),
    (
      [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
    ),
    (
      Array(1...25), [UInt8](repeating: 0xCD, count: 50),
      "4c9007f4026250c6bc8414f9bf50c86c2d7235da"
    ),
    (
      [UInt8](repeating: 0x0C, count: 20), Array("Test With Truncation".utf8),
      "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
    ),
    (
      [UInt8](repeating: 0xAA, count: 80),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "aa4ae5e15272d00e95705637ce8a3b55ed402112"
    ),
    (
      [UInt8](repeating: 0xAA, count: 80),
      Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
      "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
    ),
  ]

  @Test(arguments: shortCodes)
  func `HMAC-SHA-1 gives the answers of RFC 2202`(
    key: [UInt8], message: [UInt8], expected: String
  ) throws {
    let code = try MessageCode.sha1.make(message.span, key: key.span)
    #expect(hexadecimal(bytes(of: code)) == expected)
  }

  /// RFC 4231 §4.3.
  @Test func `HMAC-SHA-256 and HMAC-SHA-512 give the answers of RFC 4231`() throws {
    let (key, message) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
    let short = hexadecimal(bytes(of: try MessageCode.sha256.make(message.span, key: key.span)))
    #expect(short == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let long = hexadecimal(bytes(of: try MessageCode.sha512.make(message.span, key: key.span)))
    #expect(
      long == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737")
  }
}
