// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@testable import KuraFormat

@Suite struct OTPSeedTests {
  /// `12345678901234567890`, as both RFCs have it.
  private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  private func seed(_ uri: String) throws(FormatError) -> OTPSeed {
    let bytes = Array(uri.utf8)
    return try OTPSeed(uri: bytes.span)
  }

  private func code(_ uri: String, _ counter: UInt64) throws -> String {
    let seed = try seed(uri)
    let code = try seed.code(counter)
    return String(decoding: code.bytes.indices.map { code.bytes[$0] }, as: UTF8.self)
  }

  /// RFC 4226, appendix D.
  @Test func `counters give the codes of RFC 4226`() throws {
    let uri = "otpauth://hotp/a?secret=\(Self.secret)&counter=0"
    let expected = [
      "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871",
      "520489",
    ]
    for (counter, code) in expected.enumerated() {
      #expect(try self.code(uri, UInt64(counter)) == code)
    }
  }

  /// RFC 6238, appendix B, whose secrets are as long as the hashes.
  @Test(arguments: [
    (59, "94287082", "46119246", "90693936"),
    (1_111_111_109, "07081804", "68084774", "25091201"),
    (1_111_111_111, "14050471", "67062674", "99943326"),
    (1_234_567_890, "89005924", "91819424", "93441116"),
    (2_000_000_000, "69279037", "90698825", "38618901"),
    (20_000_000_000, "65353130", "77737706", "47863826"),
  ])
  func `times give the codes of RFC 6238`(
    time: UInt64, sha1: String, sha256: String, sha512: String
  ) throws {
    let long = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA===="
    let longest = String(repeating: Self.secret, count: 3) + "GEZDGNA="
    let uri = "otpauth://totp/a?digits=8&"
    #expect(try code(uri + "secret=\(Self.secret)", time / 30) == sha1)
    #expect(try code(uri + "secret=\(long)&algorithm=SHA256", time / 30) == sha256)
    #expect(try code(uri + "secret=\(longest)&algorithm=SHA512", time / 30) == sha512)
  }

  @Test func `what is not said has the usual value`() throws {
    let seed = try seed("otpauth://totp/Example:alice@example.com?secret=jbswy3dpehpk3pxp")
    #expect(seed.factor == .time(period: 30))
    #expect(seed.digits == 6)
    #expect(seed.algorithm == .sha1)
  }

  @Test func `parameters come in any order, and unknown ones are passed over`() throws {
    let seed = try seed(
      "OTPAUTH://TOTP/Caf%C3%A9%3A%20x?image=a%zz&period=60&issuer=Caf%C3%A9&digits=7"
        + "&algorithm=sha256&secret=MFRGG%3D%3D%3D&")
    #expect(seed.factor == .time(period: 60))
    #expect(seed.digits == 7)
    #expect(seed.algorithm == .sha256)
  }

  @Test(arguments: [
    ("https://totp/a?secret=AA", OTPRule.scheme), ("", .scheme), ("otpauth:/", .scheme),
    ("otpauth://motp/a?secret=AA", .kind), ("otpauth://", .kind),
    ("otpauth://totp", .secretMissing), ("otpauth://totp/a", .secretMissing),
    ("otpauth://totp/a?", .secretMissing), ("otpauth://totp/a?digits=6", .secretMissing),
    ("otpauth://totp/a?secret=", .secret), ("otpauth://totp/a?secret=A", .secret),
    ("otpauth://totp/a?secret=AA1A", .secret), ("otpauth://totp/a?secret=AA=A", .secret),
    ("otpauth://totp/a?secret=AA=", .secret), ("otpauth://totp/a?secret=%3D", .secret),
    ("otpauth://totp/a?secret=AA%20AA", .secret), ("otpauth://totp/a?secret=%4", .text),
    ("otpauth://totp/a%?secret=AA", .text), ("otpauth://totp/a%FF?secret=AA", .text),
    ("otpauth://totp/a?secret=AA&issuer=%C3", .text),
    ("otpauth://totp/a?secret=AA&algorithm=MD5", .algorithm),
    ("otpauth://totp/a?secret=AA&digits=5", .digits),
    ("otpauth://totp/a?secret=AA&digits=9", .digits),
    ("otpauth://totp/a?secret=AA&digits=", .digits),
    ("otpauth://totp/a?secret=AA&period=0", .period),
    ("otpauth://totp/a?secret=AA&period=86401", .period),
    ("otpauth://totp/a?secret=AA&period=3x", .period),
    ("otpauth://hotp/a?secret=AA", .counterMissing),
    ("otpauth://hotp/a?secret=AA&counter=", .counter),
    ("otpauth://hotp/a?secret=AA&counter=18446744073709551616", .counter),
    ("otpauth://totp/a?secret=AA&secret=AA", .repeated),
    ("otpauth://totp/a?secret=AA&digits=6&digits=6", .repeated),
    ("otpauth://totp/a?secret=AA&issuer=a&issuer=a", .repeated),
    ("otpauth://totp/" + String(repeating: "a", count: 4_096), .tooLong),
  ])
  func `what is wrong is named`(uri: String, rule: OTPRule) {
    #expect(throws: FormatError.otpInvalid(rule)) { _ = try seed(uri) }
  }

  @Test func `a counter moves on in its place`() throws {
    let uri = Array("otpauth://hotp/a?counter=9&secret=AA&digits=8".utf8)
    let seed = try OTPSeed(uri: uri.span)
    #expect(seed.factor == .counter(9))
    let moved = try seed.uri(uri.span, withCounter: 10)
    let text = String(decoding: moved.bytes.indices.map { moved.bytes[$0] }, as: UTF8.self)
    #expect(text == "otpauth://hotp/a?counter=10&secret=AA&digits=8")
  }
}
