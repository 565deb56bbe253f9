// SPDX-License-Identifier: MIT

import KuraTerms
import TestGround
import Testing

@testable import KuraImport

/// What lists never show of cards, papers and keys, field by field.
@Suite struct HiddenFieldTests {
  /// An item with one field, or two, of a form.
  private func item(_ text: String, _ format: ImportFormat) throws -> ImportedItem {
    try #require(try items(Array(text), format).first)
  }

  private func bitwarden(
    _ type: Int, _ member: String, _ fields: String
  ) throws -> ImportedItem {
    try item(
      "{\"items\":[{\"name\":\"n\",\"type\":\(type),\"\(member)\":{\(fields)}}]}", .bitwardenJSON)
  }

  private func proton(_ type: String, _ fields: String) throws -> ImportedItem {
    try item(
      "{\"vaults\":{\"v\":{\"name\":\"w\",\"items\":[{\"data\":{\"metadata\":{\"name\":\"n\"},\"type\":\"\(type)\",\"content\":{\(fields)}}}]}}}",
      .protonJSON)
  }

  private static let value = "0785-1120"

  private func expectHidden(_ key: String, in item: ImportedItem) {
    #expect(item.secret(key) == Self.value && item[key] == nil)
    #expect(!item.attributes.contains { $0.value.text == Self.value })
  }

  @Test(arguments: [
    (3, "card", "code"), (3, "card", "ofALaterOne"), (4, "identity", "ssn"),
    (4, "identity", "passportNumber"), (4, "identity", "licenseNumber"),
    (4, "identity", "ofALaterOne"), (5, "sshKey", "ofALaterOne"),
  ])
  func `Bitwarden's`(_ type: Int, _ member: String, _ key: String) throws {
    expectHidden(key, in: try bitwarden(type, member, "\"\(key)\":\"\(Self.value)\""))
  }

  @Test func `Bitwarden's that may be seen`() throws {
    let card = try bitwarden(3, "card", "\"number\":\"4111\",\"brand\":\"Visa\"")
    #expect(card.value.text == "4111" && card["brand"] == "Visa" && card.secrets.isEmpty)
    let me = try bitwarden(4, "identity", "\"lastName\":\"L\",\"country\":\"NO\"")
    #expect(me["lastName"] == "L" && me["country"] == "NO" && me.secrets.isEmpty)
    let key = try bitwarden(5, "sshKey", "\"privateKey\":\"k\",\"publicKey\":\"ssh-ed25519\"")
    #expect(key.value.text == "k" && key["publicKey"] == "ssh-ed25519" && key.secrets.isEmpty)
  }

  @Test(arguments: [
    ("creditCard", "verificationNumber"), ("creditCard", "pin"), ("creditCard", "ofALaterOne"),
    ("identity", "socialSecurityNumber"), ("identity", "passportNumber"),
    ("identity", "licenseNumber"), ("identity", "ofALaterOne"), ("sshKey", "ofALaterOne"),
    ("wifi", "ofALaterOne"),
  ])
  func `Proton's`(_ type: String, _ key: String) throws {
    expectHidden(key, in: try proton(type, "\"\(key)\":\"\(Self.value)\""))
  }

  @Test func `Proton's that may be seen, and what a person made hidden`() throws {
    let card = try proton("creditCard", "\"number\":\"4111\",\"expirationDate\":\"2030-12\"")
    #expect(card.value.text == "4111" && card["expirationDate"] == "2030-12")
    let me = try proton(
      "identity",
      "\"fullName\":\"Ada L\",\"extraWorkDetails\":[{\"fieldName\":\"badge\",\"type\":\"hidden\",\"data\":{\"content\":\"7\"}}],\"sections\":[{\"sectionFields\":[{\"fieldName\":\"size\",\"type\":\"text\",\"data\":{\"content\":\"9\"}}]}]"
    )
    #expect(me["fullName"] == "Ada L" && me.secret("badge") == "7" && me["size"] == "9")
    let key = try proton("sshKey", "\"privateKey\":\"k\",\"publicKey\":\"ssh-ed25519\"")
    #expect(key.value.text == "k" && key["publicKey"] == "ssh-ed25519" && key.secrets.isEmpty)
  }

  private func onePassword(_ category: String, _ kind: String) throws -> ImportedItem {
    let data =
      "{\"accounts\":[{\"vaults\":[{\"attrs\":{\"name\":\"v\"},\"items\":[{\"categoryUuid\":\"\(category)\",\"overview\":{\"title\":\"n\"},\"details\":{\"sections\":[{\"fields\":[{\"title\":\"number\",\"id\":\"n\",\"value\":{\"\(kind)\":\"\(Self.value)\"}}]}]}}]}]}]}"
    let bytes = ZipFile.bytes([
      .init("export.attributes", Array("{\"version\":3}")), .init("export.data", Array(data)),
    ])
    return try #require(try items(bytes, .onePUX).first)
  }

  @Test(arguments: ["101", "103", "106", "108", "113"], ["string", "menu"])
  func `1Password's papers`(_ category: String, _ kind: String) throws {
    expectHidden("number", in: try onePassword(category, kind))
  }

  @Test(arguments: ["001", "004", "106"], ["concealed", "creditCardNumber", "totp"])
  func `1Password's that are concealed`(_ category: String, _ kind: String) throws {
    let item = try onePassword(category, kind)
    #expect(item.attributes.isEmpty && (item.secrets.count == 1 || item.value.text == Self.value))
  }

  @Test func `1Password's that may be seen`() throws {
    #expect(try onePassword("004", "string")["number"] == Self.value)
  }

  @Test(arguments: [
    ("passport", "passportNumber", "string"),
    ("passport", "nationalIdentificationNumber", "string"),
    ("identity-document", "documentNumber", "string"),
    ("identity-document", "identificationNumber", "string"),
    ("drivers-license", "licenseNumber", "string"),
    ("passport", "issuingCountry", "concealed-string"),
    ("passport", "issuingCountry", "of-a-later-version"),
  ])
  func `those of the exchange format`(_ type: String, _ key: String, _ kind: String) throws {
    expectHidden(
      key,
      in: try item(
        "{\"version\":{\"major\":1},\"accounts\":[{\"items\":[{\"title\":\"n\",\"credentials\":[{\"type\":\"\(type)\",\"\(key)\":{\"fieldType\":\"\(kind)\",\"value\":\"\(Self.value)\"}}]}]}]}",
        .cxf))
  }
}
