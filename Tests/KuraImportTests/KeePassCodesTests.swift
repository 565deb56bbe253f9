// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// Codes of KeePass, of KeePassXC, and of plugins of theirs.
@Suite struct KeePassCodesTests {
  private static let secret = "JBSWY3DPEHPK3PXP"

  private func read(_ fields: [(String, String)]) throws -> (ImportedItem, [Leaving]) {
    let strings = ([("Title", "Shop"), ("Password", "p")] + fields).map {
      "<String><Key>\($0)</Key><Value>\($1)</Value></String>"
    }
    let document =
      "<KeePassFile><Root><Group><Entry>\(strings.joined())</Entry></Group></Root></KeePassFile>"
    let item = try #require(try items(Array(document), .keepassXML).first)
    return (item, try leavings(Array(document), .keepassXML))
  }

  @Test(
    arguments: [
      ([("TimeOtp-Secret-Base32", secret)], "totp/Shop?secret=\(secret)"),
      (
        [
          ("TimeOtp-Algorithm", "HMAC-SHA-256"), ("TimeOtp-Length", "8"), ("TimeOtp-Period", "60"),
          ("TimeOtp-Secret-Base32", secret),
        ], "totp/Shop?secret=\(secret)&digits=8&period=60&algorithm=SHA256"
      ),
      ([("TimeOtp-Secret-Hex", "48656C6c 6f21deadbeef")], "totp/Shop?secret=\(secret)"),
      ([("TimeOtp-Secret-Base64", "SGVsbG8h3q2+7w==")], "totp/Shop?secret=\(secret)"),
      (
        [("TimeOtp-Secret", "12345678901234567890")],
        "totp/Shop?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
      ),
      (
        [("TOTP Seed", secret), ("TOTP Settings", "60;8")],
        "totp/Shop?secret=\(secret)&period=60&digits=8"
      ),
      (
        [("TOTP Settings", "30;6;https://time.example"), ("TOTP Seed", "jbsw y3dp ehpk 3pxp")],
        "totp/Shop?secret=\(secret)&period=30&digits=6"
      ),
      (
        [("otp", "key=\(secret)&amp;step=15&amp;size=7&amp;otpHashMode=Sha512")],
        "totp/Shop?secret=\(secret)&period=15&digits=7&algorithm=SHA512"
      ),
      (
        [("HmacOtp-Secret-Base32", secret), ("HmacOtp-Counter", "41")],
        "hotp/Shop?secret=\(secret)&counter=41"
      ),
      ([("HmacOtp-Secret-Base32", secret)], "hotp/Shop?secret=\(secret)&counter=0"),
    ] as [([(String, String)], String)])
  func `codes are made as the fields beside the secret say`(
    _ fields: [(String, String)], _ uri: String
  ) throws {
    let (item, left) = try read(fields)
    #expect(item.secret("otp") == "otpauth://" + uri)
    #expect(item.secrets.count == 1 && item.attributes.isEmpty && left.isEmpty)
  }

  @Test func `of several seeds each is kept, and the same once`() throws {
    let uri = "otpauth://totp/x?secret=AAAAAAAA"
    let (item, left) = try read([
      ("TOTP Seed", Self.secret), ("TOTP Settings", "30;8"), ("TimeOtp-Secret-Base32", Self.secret),
      ("TimeOtp-Secret-Hex", "00"), ("otp", uri), ("TimeOtp-Length", "8"), ("TimeOtp-Period", "30"),
    ])
    #expect(item.secret("otp") == uri)
    #expect(item.secret("otp-2") == "otpauth://totp/Shop?secret=AA&digits=8&period=30")
    #expect(item.secret("otp-3")?.hasSuffix("=\(Self.secret)&period=30&digits=8") == true)
    #expect(item.secret("TimeOtp-Secret-Base32") == Self.secret)
    #expect(item.secrets.count == 4 && item.attributes.isEmpty && left.isEmpty)
  }

  @Test(
    arguments: [
      ([("TOTP Seed", secret), ("TOTP Settings", "30;S")], "TOTP Seed"),
      ([("TOTP Seed", secret), ("TOTP Settings", "30")], "TOTP Seed"),
      ([("TimeOtp-Secret-Base32", secret), ("TimeOtp-Algorithm", "MD5")], "TimeOtp-Secret-Base32"),
      ([("TimeOtp-Secret-Base32", "!"), ("TimeOtp-Period", "30")], "TimeOtp-Secret-Base32"),
      ([("TimeOtp-Secret-Hex", "4"), ("TimeOtp-Length", "6")], "TimeOtp-Secret-Hex"),
      ([("HmacOtp-Secret", "x"), ("HmacOtp-Counter", "-1")], "HmacOtp-Secret"),
    ] as [([(String, String)], String)])
  func `what makes no codes is kept with all that belongs to it, the secret hidden, and said`(
    _ fields: [(String, String)], _ field: String
  ) throws {
    let (item, left) = try read(fields)
    #expect(left.map(\.field) == [field] && left.map(\.reason) == [.remark(.noCode)])
    #expect(item.secret("otp") == nil)
    for (key, value) in fields { #expect((item[key] ?? item.secret(key)) == value) }
    #expect(item[field] == nil)
  }

  @Test func `a query that nobody knows is no code`() throws {
    let (item, left) = try read([("otp", "key=\(Self.secret)&amp;type=Steam")])
    #expect(item.secret("otp") == nil)
    #expect(item.secret("otp-2") == "key=\(Self.secret)&type=Steam")
    #expect(left.map(\.reason) == [.remark(.noCode)])
  }

  @Test func `settings alone are fields`() throws {
    let (item, _) = try read([("TimeOtp-Period", "30")])
    #expect(item["TimeOtp-Period"] == "30" && item.secrets.isEmpty)
  }
}
