// SPDX-License-Identifier: MIT

import KuraTerms
import TestGround
import Testing

@testable import KuraImport

/// 1Password's archive, and Proton's.
@Suite struct OnePasswordSourceTests {
  @Test func `entries with all that they have`() throws {
    let items = try items(try fixture("onepassword.1pux"), .onePUX)
    let name = "Private/Example"
    let entry = try #require(items[name])
    #expect(
      entry.value.text == "op \"quoted\" 😀" && entry.history.map(\.text) == ["first", "second"])
    #expect(entry["user"] == "ada" && entry["branch"] == "north")
    #expect(entry["tags"] == "work, shared, favorite" && entry["mail"] == "ada@example.org")
    #expect(entry["url"] == "https://example.org" && entry["url-2"] == "https://example.net")
    #expect(entry["since"] == "2025-01-02" && entry["until"] == "2026-12")
    #expect(entry["home"] == "1 Way, Town, uk")
    #expect(entry.secret("PIN") == "1234" && entry.secret("question") == "blue")
    #expect(entry.secret("notes") == "the\nnotes")
    #expect(entry.secret("otp")?.hasPrefix("otpauth://") == true)
    #expect(entry.created == 1_735_787_045_000 && entry.modified == 1_772_368_200_000)
    #expect(items[name + "/attachments/scan.bin"]?.value == [0, 1, 2, 0xFF])
  }

  @Test func `each category has its value where it is`() throws {
    let items = try items(try fixture("onepassword.1pux"), .onePUX)
    #expect(items["Private/Card"]?.value.text == "4111111111111111")
    #expect(
      items["Private/Card"]?.secret("cvv") == "987" && items["Private/Card"]?["type"] == "visa")
    #expect(items["Private/A note"]?.value.text == "only notes")
    #expect(items["Private/A note"]?["tags"] == "archived")
    #expect(items["Private/Papers"]?.secret("number") == "X123")
    #expect(items["Private/Bare"]?.value.text == "bare one")
    #expect(items["Private/Paper.pdf/attachments/Paper.pdf"]?.value.text == "%PDF\n")
    #expect(items["Private/Key"]?.value.text.hasPrefix("-----BEGIN PRIVATE KEY-----") == true)
    #expect(items["Private/Key"]?["publicKey"] == "ssh-ed25519 AAAA")
    #expect(
      items["Private/Base"]?.value.text == "db pw" && items["Private/Base"]?["user"] == "root")
  }

  @Test func `what is not taken is told by its field`() throws {
    let left = try leavings(try fixture("onepassword.1pux"), .onePUX)
    #expect(
      left.map(\.field) == [
        "title of the section More", "lost.bin", "see", "odd", "htmlMethod",
      ])
    #expect(
      left.map(\.reason) == [
        .remark(.unsupported), .remark(.invalid), .remark(.foreign), .remark(.unsupported),
        .remark(.foreign),
      ])
  }

  private static let attributes = ("export.attributes", "{\"version\":3}")

  @Test(
    arguments: [
      ([], ReadingFlaw(.archiveFile, "export.attributes")),
      ([attributes], ReadingFlaw(.archiveFile, "export.data")),
      ([("export.attributes", "{\"version\":4}")], ReadingFlaw(.member, "version")),
      ([attributes, ("export.data", "{}")], ReadingFlaw(.member, "accounts")),
      ([attributes, ("export.data", "{")], ReadingFlaw(.notJSON, at: 1)),
      ([attributes, ("export.data", "{\"accounts\":[{}]}")], ReadingFlaw(.member, "vaults")),
      (
        [attributes, ("export.data", "{\"accounts\":[{\"vaults\":[{}]}]}")],
        ReadingFlaw(.member, "items")
      ),
      (
        [attributes, ("export.data", "{\"accounts\":[{\"vaults\":[{\"items\":[{}]}]}]}")],
        ReadingFlaw(.member, at: 1, "overview")
      ),
      (
        [
          attributes,
          ("export.data", "{\"accounts\":[{\"vaults\":[{\"items\":[{\"overview\":{}}]}]}]}"),
        ], ReadingFlaw(.member, at: 1, "details")
      ),
    ] as [([(String, String)], ReadingFlaw)])
  func `what is no such export is named`(
    _ files: [(String, String)], _ expected: ReadingFlaw
  ) throws {
    let bytes = ZipFile.bytes(
      [.init("other", [])] + files.map { ZipFile.Entry($0.0, Array($0.1)) })
    #expect(try outcome(bytes, .onePUX) == .flaw(expected))
  }

  @Test func `where there are several accounts, each is a folder`() throws {
    let account = { (name: String) in
      "{\"attrs\":{\"accountName\":\"\(name)\"},\"vaults\":[{\"attrs\":{\"name\":\"V\"},\"items\":[{\"overview\":{\"title\":\"t\"},\"details\":{\"password\":\"p\"}}]}]}"
    }
    let bytes = ZipFile.bytes([
      .init("export.attributes", Array("{\"version\":3}")),
      .init("export.data", Array("{\"accounts\":[\(account("a")),\(account("b"))]}")),
    ])
    #expect(try items(bytes, .onePUX).names == ["a/V/t", "b/V/t"])
  }

  // MARK: - Proton's archive

  @Test func `Proton's archive is what its document is`() throws {
    let plain = try outcome(try fixture("proton.json"), .protonJSON)
    #expect(try outcome(try fixture("proton.zip"), .protonJSON) == plain)
  }

  @Test func `what PGP encrypted, and an archive without a document, are named`() throws {
    let sealed = ZipFile.bytes([.init("Proton Pass/data.pgp", Array("-----BEGIN PGP MESSAGE-----"))]
    )
    #expect(try outcome(sealed, .protonJSON) == .flaw(ReadingFlaw(.pgp)))
    #expect(
      try outcome(Array("-----BEGIN PGP MESSAGE-----\n"), .protonJSON) == .flaw(ReadingFlaw(.pgp)))
    let other = ZipFile.bytes([.init("x", [])])
    #expect(
      try outcome(other, .protonJSON) == .flaw(ReadingFlaw(.archiveFile, "Proton Pass/data.json")))
  }

  @Test func `files of Proton's archive belong to their items`() throws {
    let document =
      "{\"vaults\":{\"v\":{\"name\":\"w\",\"items\":[{\"files\":[\"a.txt\",\"gone\"],\"data\":{\"metadata\":{\"name\":\"n\"},\"type\":\"note\"}}]}}}"
    let bytes = ZipFile.bytes([
      .init("Proton Pass/data.json", Array(document)),
      .init("Proton Pass/files/a.txt", Array("file")),
    ])
    #expect(try items(bytes, .protonJSON)["w/n/attachments/a.txt"]?.value.text == "file")
    #expect(try leavings(bytes, .protonJSON).map(\.field) == ["gone"])
  }
}
