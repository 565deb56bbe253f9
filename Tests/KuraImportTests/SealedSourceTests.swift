// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// Exports of Bitwarden's that a password seals; another program, in Python, has made them.
@Suite struct SealedSourceTests {
  private static let password = Array("export pass wörd")

  private func flaw(_ text: String, _ password: [UInt8]? = password) throws -> ReadingFlaw? {
    guard case .flaw(let flaw) = try outcome(Array(text), .bitwardenJSON, password) else {
      return nil
    }
    return flaw
  }

  private func changed(_ name: String, _ old: String, _ new: String) throws -> String {
    let text = try fixture(name).text
    #expect(text.contains(old))
    return text.replacing(old, with: new)
  }

  @Test(arguments: ["bitwarden-pbkdf2.json", "bitwarden-argon2.json"])
  func `a sealed export is what a plain one is`(_ name: String) throws {
    let plain = try outcome(try fixture("bitwarden.json"), .bitwardenJSON)
    guard case .whole(let answer) = plain else { throw ReadingFlaw(.empty) }
    #expect(answer.entries.count > 3)
    #expect(try outcome(try fixture(name), .bitwardenJSON, Self.password) == plain)
  }

  @Test(arguments: ["bitwarden-pbkdf2.json", "bitwarden-argon2.json"])
  func `without its password it stays shut`(_ name: String) throws {
    let text = try fixture(name).text
    #expect(try flaw(text, nil) == ReadingFlaw(.passwordNeeded))
    #expect(try flaw(text, Array("export pass word")) == ReadingFlaw(.wrongPassword))
    #expect(try flaw(text, []) == ReadingFlaw(.wrongPassword))
    let bound = try changed(name, "\"passwordProtected\": true", "\"passwordProtected\": false")
    #expect(try flaw(bound) == ReadingFlaw(.accountBound))
  }

  @Test func `each byte of what is sealed is proved`() throws {
    let name = "bitwarden-pbkdf2.json"
    let text = try fixture(name)
    let label = Array("\"data\": \"2.")
    let start =
      try #require(
        text.indices.first { text[$0...].starts(with: label) }) + label.count
    for distance in [0, 5, 30, 400, 1_500] {
      var text = text
      text[start + distance] = text[start + distance] == 0x41 ? 0x42 : 0x41
      #expect(try flaw(text.text) == ReadingFlaw(.sealBroken))
    }
  }

  @Test(
    arguments: [
      ("bitwarden-pbkdf2.json", "\"kdfIterations\": 5000", "\"kdfIterations\": 2000001"),
      ("bitwarden-argon2.json", "\"kdfIterations\": 2", "\"kdfIterations\": 11"),
      ("bitwarden-argon2.json", "\"kdfMemory\": 16", "\"kdfMemory\": 1025"),
      ("bitwarden-argon2.json", "\"kdfParallelism\": 4", "\"kdfParallelism\": 17"),
    ])
  func `no export has a password cost more than Bitwarden does`(
    _ name: String, _ old: String, _ new: String
  ) throws {
    let word = try #require(old.split(separator: "\"").first.map { String($0) })
    #expect(try flaw(try changed(name, old, new)) == ReadingFlaw(.costs, word))
  }

  @Test(
    arguments: [
      ("\"kdfType\": 0", "\"kdfType\": 2", "kdfType"),
      ("\"kdfIterations\": 5000", "\"kdfIterations\": 0", "kdfIterations"),
      ("\"kdfIterations\": 5000", "\"kdfIterations\": -1", "kdfIterations"),
      ("\"salt\"", "\"pepper\"", "salt"), ("\"data\": \"2.", "\"data\": \"0.", "data"),
      ("\"data\": \"2.", "\"data\": \"2.QQ==|", "data"),
      ("DO_NOT_EDIT\": \"2.", "DO_NOT_EDIT\": \"2.!", "encKeyValidation_DO_NOT_EDIT"),
    ])
  func `what is not laid out so is named`(_ old: String, _ new: String, _ word: String) throws {
    #expect(
      try flaw(try changed("bitwarden-pbkdf2.json", old, new)) == ReadingFlaw(.member, word))
  }

  /// HMAC: RFC 4231, test case 2. SHA-256: FIPS 180-4's example. PBKDF2: RFC 7914, section 11. Argon2id: a vector of its
  /// authors' own tests, since that of RFC 9106 is made with a secret and data that no export has.
  @Test func `the sums are those that were published`() throws {
    #expect(
      hexadecimal(Digest.authenticate(Array("what do ya want for nothing?"), with: Array("Jefe")))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      hexadecimal(Digest.hash(Array("abc")))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      hexadecimal(Digest.stretch(Array("passwd"), salt: Array("salt"), rounds: 1))
        == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")
    #expect(
      hexadecimal(
        try #require(
          Digest.stretch(
            Array("password"), salt: Array("somesalt"), memory: 65_536, passes: 2, lanes: 1)))
        == "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7")
    #expect(
      Digest.stretch(Array("p"), salt: Array("somesalt"), memory: 8, passes: 1, lanes: 16) == nil)
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
