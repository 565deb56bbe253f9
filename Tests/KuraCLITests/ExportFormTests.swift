// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

@Suite struct DotenvFileTests {
  @Test(arguments: [
    ("", DotenvFile.Quoting.bare), ("a_B1./:@%+,=-", .bare), ("a b", .single), ("#", .single),
    ("$HOME", .single), ("`id`", .single), ("a\\b", .single), ("two\nlines", .single),
    ("~", .single), ("\"", .single), ("it's", .double), ("a\\\\b", .double), ("'\"\\x", .double),
    ("'$", nil), ("'`", nil), ("${A}", nil), ("'${", nil), ("\\", nil), ("a'\\", nil),
    ("\\\\$", nil),
  ])
  func `a value is quoted so that nobody reads more into it`(
    _ text: String, _ expected: DotenvFile.Quoting?
  ) {
    let bytes = Array(text.utf8)
    #expect(DotenvFile.quoting(of: bytes.span) == expected)
  }

  @Test func `variables are called as run calls them, and no two alike`() {
    let made = DotenvFile.variables(
      of: ["app/a.b", "app/a_b", "app/db/url", "app/9", "app/é"], below: "app/")
    #expect(
      made.map { String(decoding: $0.name, as: UTF8.self) } == ["A_B", "A_B", "DB_URL", "9", "_"])
    #expect(made.map { $0.flaw == nil } == [false, false, true, false, true])
    #expect(made[0].flaw == "app/a_b would be the variable A_B, too")
    let behind = DotenvFile.variables(of: ["app/plain"], below: "app/pl")
    #expect(behind.map { String(decoding: $0.name, as: UTF8.self) } == ["PLAIN"])
  }
}

@Suite struct StorePathTests {
  @Test(arguments: [
    ("web/shop", ["web", "shop"]), (".gpg-id", ["_.gpg-id"]), (".git/x", ["_.git", "x"]),
    ("a.gpg/b.gpg", ["a.gpg_", "b.gpg"]), ("-x/ y", ["-x", " y"]), ("..x", ["_..x"]),
  ])
  func `a name stays below the store, and is seen there`(_ name: String, _ parts: [String]) {
    #expect(StorePath.parts(of: name) == parts)
  }

  @Test func `a long part is cut between characters`() {
    for text in ["x", "ü", "日", "😀"] {
      let part = StorePath.parts(of: String(repeating: text, count: 300))[0]
      #expect(part.utf8.count <= 240 && part.utf8.count > 239 - text.utf8.count)
      #expect(part.allSatisfy { String($0) == text })
    }
    #expect(StorePath.parts(of: String(repeating: "x", count: 240))[0].utf8.count == 240)
  }
}

@Suite struct EncryptionTests {
  @Test func `the keys of a store are its lines, without what is remarked`() {
    let text = "ada@example.org # work\n\n# none\n  0xABCD \r\nEve"
    #expect(Encryption.keys(Array(text.utf8)) == ["ada@example.org", "0xABCD", "Eve"])
  }
}

@Suite struct TimeCodeTests {
  private func read(_ uri: String) throws -> (code: TimeCode?, secret: String) {
    let bytes = Array(uri.utf8)
    var secret = try SecretBuffer(capacity: 64)
    let code = try TimeCode(bytes.span, &secret)
    return (code, String(decoding: Array(copying: secret.bytes), as: UTF8.self))
  }

  @Test func `a URI comes apart`() throws {
    let (plain, secret) = try read("otpauth://totp/x?secret=jbswy3dpehpk3pxp==")
    #expect(secret == "JBSWY3DPEHPK3PXP")
    #expect(plain?.period == 30 && plain?.digits == 6 && plain?.algorithm == "sha1")
    #expect(plain?.account == Array("x".utf8) && plain?.issuer == [])
    let (full, _) = try read(
      "otpauth://TOTP/Shop%20A:%20ada?digits=8&secret=AA&period=60&algorithm=SHA512&image=x&issuer=B"
    )
    #expect(full?.period == 60 && full?.digits == 8 && full?.algorithm == "sha512")
    #expect(full?.account == Array("ada".utf8) && full?.issuer == Array("B".utf8))
  }

  @Test(arguments: [
    "otpauth://hotp/x?secret=AA&counter=1", "otpauth://totp/x", "otpauth://totp/x?secret=",
    "otpauth://totp/x?secret=A1", "otpauth://totp/x?secret=AA&secret=BB",
    "otpauth://totp/x?secret=AA&period=256", "otpauth://totp/x?secret=AA&period=0",
    "otpauth://totp/x?secret=AA&digits=x", "otpauth://totp/x?secret=AA&algorithm=MD5",
    "otpauth://totp/%FF?secret=AA", "totp", "",
  ])
  func `what has no place elsewhere is told`(_ uri: String) throws {
    #expect(try read(uri).code == nil)
  }
}
