// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// Exports that are one JSON document.
@Suite struct JSONSourceTests {
  @Test func `Bitwarden's logins, with folders, fields, history and codes`() throws {
    let bytes = try fixture("bitwarden.json")
    let items = try items(bytes, .bitwardenJSON)
    let name = "Work/Mail/Example"
    let login = try #require(items[name])
    #expect(login.value.text == "bw \"quoted\" 😀")
    #expect(login.history.map(\.text) == ["first", "second"])
    #expect(login["url"] == "https://example.org/login" && login["url-2"] == "https://example.net")
    #expect(login["user"] == "ada" && login["tags"] == "favorite" && login["branch"] == "north")
    #expect(login["remember"] == "true" && login["PIN"] == nil)
    #expect(login.created == 1_735_787_045_678)
    #expect(items[name]?.secret("PIN") == "1234")
    #expect(items[name]?.secret("otp")?.hasPrefix("otpauth://") == true)
    #expect(items[name]?.secret("notes") == "the\nnotes")
    let left = try leavings(bytes, .bitwardenJSON)
    #expect(
      left.map(\.field) == ["match", "passkey", "shown", ""] && left[0].place == 1
        && left[3].entry == "Old")
    #expect(
      left.map(\.reason) == [
        .remark(.foreign), .remark(.unsupported), .remark(.foreign), .remark(.trashed),
      ])
  }

  @Test func `Bitwarden's other kinds`() throws {
    let items = try items(try fixture("bitwarden.json"), .bitwardenJSON)
    #expect(items["A note"]?.value.text == "only this" && items["A note"]?.isProtected == true)
    #expect(items["Card"]?.value.text == "4111111111111111" && items["Card"]?["brand"] == "Visa")
    #expect(items["Card"]?.secret("code") == "999")
    #expect(items["Me"]?["firstName"] == "Ada" && items["Me"]?["ssn"] == nil)
    #expect(items["Me"]?.secret("ssn") == "078-05-1120")
    #expect(items["Key"]?.value.text.hasPrefix("-----BEGIN") == true)
    #expect(items["Old"] == nil)
  }

  @Test func `Proton's, vault by vault`() throws {
    let bytes = try fixture("proton.json")
    let items = try items(bytes, .protonJSON)
    let login = try #require(items["Personal/Example"])
    #expect(
      login.value.text == "pp" && login["user"] == "ada" && login["email"] == "ada@example.org")
    #expect(login.created == 1_700_000_000_000 && login["tags"] == "pinned")
    #expect(items["Personal/Example"]?.secret("PIN") == "1234" && login["branch"] == "north")
    #expect(items["Personal/Example"]?.secret("otp")?.hasPrefix("otpauth://") == true)
    #expect(items["Personal/Example"]?.secret("second")?.hasPrefix("otpauth://") == true)
    #expect(items["Personal/Alias"]?["alias"] == "x@alias.example")
    #expect(items["Work/Card"]?.value.text == "4111111111111111")
    #expect(items["Work/Card"]?.secret("verificationNumber") == "999")
    #expect(items["Work/Net"]?.value.text == "wifi-pass" && items["Work/Net"]?["ssid"] == "home")
    #expect(items["Work/Net"]?.secret("admin") == "adm")
    let left = try leavings(bytes, .protonJSON)
    #expect(left.map(\.field) == ["passkey", "", "title of the section s"])
    #expect(left[1].reason == .remark(.trashed))
  }

  @Test func `a document of the exchange format, kind by kind`() throws {
    let bytes = try fixture("exchange.json")
    let items = try items(bytes, .cxf)
    let name = "Work/Mail/Example"
    let login = try #require(items[name])
    #expect(login.value.text == "cx \"quoted\" 😀" && login["user"] == "ada")
    #expect(login["url"] == "https://example.org/login" && login["url-2"] == "https://example.net")
    #expect(login["tags"] == "mail, favorite" && login["branch"] == "north")
    #expect(login["android-app"] == "org.example.app" && login["PIN"] == nil)
    #expect(login.created == 1_735_787_045_000 && login.modified == 1_740_832_200_000)
    #expect(items[name]?.secret("PIN") == "1234")
    #expect(items[name]?.secret("later") == "of a kind to come")
    #expect(items[name]?.secret("notes") == "the\nnotes")
    #expect(
      login.secret("otp")
        == "otpauth://totp/ada%20l?secret=JBSWY3DPEHPK3PXP&issuer=Shop&algorithm=SHA256&period=60&digits=8"
    )
    #expect(items["Card"]?.value.text == "4111111111111111")
    #expect(items["Card"]?["fullName"] == "Ada L" && items["Card"]?["expiryDate"] == "2030-12")
    #expect(items["Card"]?.secret("verificationNumber") == "999")
    #expect(items["Work/Net"]?.value.text == "wifi-pass" && items["Work/Net"]?["ssid"] == "home")
    #expect(items["Key"]?.value.text.hasPrefix("-----BEGIN PRIVATE KEY-----\nAA+/AQ==\n") == true)
    #expect(items["Me"]?["country"] == "NO" && items["Me"]?["passportNumber"] == nil)
    #expect(items["Me"]?.secret("passportNumber") == "P0785120")
    #expect(items["Service"]?.value.text == "k-1" && items["Service"]?["user"] == "bot")
    let left = try leavings(bytes, .cxf)
    #expect(
      left.map(\.field) == [
        "passkey", "title of the section More", "broken", "scan.pdf", "item-reference", "new-kind",
      ])
    #expect(left[0].place == 1 && left[0].entry == name)
    #expect(
      left.map(\.reason) == [
        .remark(.unsupported), .remark(.unsupported), .remark(.invalid), .remark(.unsupported),
        .remark(.foreign), .remark(.unsupported),
      ])
  }

  @Test(
    arguments: [
      (
        .bitwardenJSON,
        "{\"folders\":[{\"id\":\"f\",\"name\":\"a\"}],\"collections\":[{\"id\":\"c\",\"name\":\"b/c\"}],\"items\":[{\"name\":\"n\",\"type\":2,\"folderId\":\"f\",\"collectionIds\":[\"c\",\"gone\"],\"secureNote\":{\"type\":0},\"sort\":7,\"data\":{\"x\":[null,\"\"]}}]}",
        "a/n", ["collection b-c", "folder", "sort"]
      ),
      (
        .bitwardenJSON,
        "{\"items\":[{\"name\":\"n\",\"type\":1,\"login\":{\"uris\":[{\"uri\":\"u\",\"match\":null},{\"uri\":\"v\",\"match\":0},{\"uri\":\"w\",\"match\":3}],\"autofillOnPageLoad\":true}}]}",
        "n", ["match", "autofillOnPageLoad"]
      ),
      (
        .protonJSON,
        "{\"vaults\":{\"v\":{\"name\":\"w\",\"description\":\"d\",\"items\":[{\"data\":{\"metadata\":{\"name\":\"n\"},\"type\":\"login\",\"later\":1,\"content\":{\"hint\":\"h\"},\"platformSpecific\":{\"android\":{\"allowedApps\":[{\"packageName\":\"org.example\",\"hashes\":[\"x\"]}],\"more\":1},\"ios\":{}}}}]}}}",
        "w/n", ["hint", "more", "later", "description of w"]
      ),
      (
        .cxf,
        "{\"version\":{\"major\":1},\"accounts\":[{\"items\":[{\"id\":\"i\",\"title\":\"n\",\"credentials\":[],\"scope\":{\"urls\":[],\"apps\":[1]},\"later\":true}],\"collections\":[{\"title\":\"a\",\"items\":[{\"item\":\"i\"}],\"subCollections\":[{\"title\":\"b\",\"items\":[{\"item\":\"i\"}]}]}]}]}",
        "a/n", ["collection a-b", "later", "apps"]
      ),
      (
        .jsonLines,
        "{\"name\":\"n\",\"value\":\"v\",\"schema\":1,\"revision\":3,\"size\":1,\"protect\":true,\"tags\":[\"x\"],\"more\":true}\n{\"name\":\"n\",\"value\":\"w\",\"attributes\":{\"k\":\"v\"}}",
        "n", ["tags", "attributes"]
      ),
    ] as [(ImportFormat, String, String, [String])])
  func `what has no place, and what nobody knows, is said`(
    _ format: ImportFormat, _ text: String, _ name: String, _ fields: [String]
  ) throws {
    let items = try items(Array(text), format)
    #expect(items.names == [name])
    #expect(try leavings(Array(text), format).map(\.field) == fields)
    #expect(items[0]["android-app"] == (format == .protonJSON ? "org.example" : nil))
    #expect(items[0].isProtected == (format == .jsonLines))
  }

  @Test func `of several accounts each has a folder`() throws {
    let text = """
      {"version":{"major":1,"minor":0},"accounts":[
      {"username":"","email":"ada@example.org","items":[{"id":"a","title":"t","credentials":[]}]},
      {"username":"bob","items":[{"id":"a","title":"t","credentials":[]}],
       "collections":[{"title":"c","items":[{"item":"a"}]}]}]}
      """
    #expect(try items(Array(text.utf8), .cxf).names == ["ada@example.org/t", "bob/c/t"])
  }

  @Test(arguments: [
    (
      "{\"encrypted\":true,\"data\":\"2.x\"}", ImportFormat.bitwardenJSON,
      ReadingFlaw(.accountBound)
    ),
    (
      "{\"encrypted\":true,\"passwordProtected\":true,\"data\":\"2.x\"}", .bitwardenJSON,
      ReadingFlaw(.passwordNeeded)
    ),
    ("{\"accounts\":[]}", .cxf, ReadingFlaw(.member, "version")),
    ("{\"version\":{\"major\":2}}", .cxf, ReadingFlaw(.member, "version")),
    ("{\"version\":{\"major\":1}}", .cxf, ReadingFlaw(.member, "accounts")),
    ("{\"version\":{\"major\":1},\"accounts\":[{}]}", .cxf, ReadingFlaw(.member, "items")),
    (
      "{\"version\":{\"major\":1},\"accounts\":[{\"items\":[{\"credentials\":[]}]}]}", .cxf,
      ReadingFlaw(.member, at: 1, "title")
    ),
    (
      "{\"version\":{\"major\":1},\"accounts\":[{\"items\":[{\"title\":\"a\"}]}]}", .cxf,
      ReadingFlaw(.member, at: 1, "credentials")
    ),
    ("{\"encrypted\":true}", .protonJSON, ReadingFlaw(.encrypted)),
    ("{\"folders\":[]}", .bitwardenJSON, ReadingFlaw(.member, "items")),
    ("{\"items\":[{\"name\":\"a\"},{}]}", .bitwardenJSON, ReadingFlaw(.member, at: 2, "name")),
    ("{\"items\":[7]}", .bitwardenJSON, ReadingFlaw(.member, at: 1, "items")),
    ("{}", .protonJSON, ReadingFlaw(.member, "vaults")),
    ("{\"vaults\":{\"v\":{\"items\":[{}]}}}", .protonJSON, ReadingFlaw(.member, at: 1, "data")),
    ("{\"items\":[\n\n}", .bitwardenJSON, ReadingFlaw(.notJSON, at: 3)),
  ])
  func `what is no such export is refused`(
    _ text: String, _ format: ImportFormat, _ expected: ReadingFlaw
  ) throws {
    #expect(try flaw(text, format) == expected)
  }
}
