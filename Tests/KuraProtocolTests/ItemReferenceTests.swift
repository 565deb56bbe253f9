// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

struct ItemReferenceTests {
  @Test func `a name alone`() throws {
    let reference = try ItemReference("kura://com.example.juice/userIdentifier")
    #expect(reference.vault == nil)
    #expect(reference.name == "com.example.juice/userIdentifier")
    #expect(reference.attribute == nil)
  }

  @Test func `a vault and an attribute`() throws {
    let reference = try ItemReference("kura://@work/mail/me?attr=url")
    #expect(reference.vault == "work")
    #expect(reference.name == "mail/me")
    #expect(reference.attribute == "url")
  }

  @Test func `escapes stand for bytes`() throws {
    let reference = try ItemReference("kura://%40a%3Fb%25c/%C3%A9?attr=a%20b")
    #expect(reference.name == "@a?b%c/é")
    #expect(reference.attribute == "a b")
  }

  @Test(arguments: [
    ("kura://", ItemReference.Flaw.nameMissing),
    ("kura://@work/", .nameMissing),
    ("kura://@work", .vaultMissing),
    ("kura://@/a", .vaultMissing),
    ("kura://a?b", .query),
    ("kura://a?attr=", .query),
    ("kura://a%2", .escape),
    ("kura://a%zz", .escape),
    ("kura://a%ff", .notUTF8),
  ])
  func `what is no reference is told apart`(_ text: String, _ flaw: ItemReference.Flaw) {
    #expect(throws: flaw) { try ItemReference(text) }
  }

  @Test func `only the scheme makes a reference`() {
    #expect(ItemReference.isReference("kura://a"))
    #expect(!ItemReference.isReference("kura:/a"))
    #expect(!ItemReference.isReference("a/kura://"))
  }
}
