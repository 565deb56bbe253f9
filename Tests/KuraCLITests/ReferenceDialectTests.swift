// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraCLI

@Suite struct ReferenceDialectTests {
  private static let place = Place.option(.environment, [])

  private func read(_ text: String, _ table: [String]) throws(CommandError) -> ItemReference {
    let dialect = try ReferenceDialect(
      expands: false, Variables { _ in nil }, table.map { Array($0.utf8) })
    return try dialect.read(Array(text.utf8), at: Self.place).reference
  }

  @Test(arguments: [
    ("op://Private/Mail/password", "kura://home/Mail"),
    ("op://Private/Mail/credential", "kura://home/Mail"),
    ("op://Private/Mail/username", "kura://home/Mail?attr=username"),
    ("op://Private/Mail/Server/host", "kura://home/Mail?attr=Server.host"),
    ("op://Private/Mail/one-time password?attribute=otp", "kura://home/Mail?otp"),
    ("op://Shared/My mail/x", "kura://@team/My%20mail?attr=x"),
    ("op://Shared/@a%/password", "kura://@team/%40a%25"),
    ("kura://Mail", "kura://Mail"),
  ])
  func `references of 1Password's are read by a table`(_ text: String, _ meant: String) throws {
    let table = ["Private=kura://home/", "Shared=kura://@team/"]
    #expect(try read(text, table) == ItemReference(meant))
  }

  @Test(arguments: [
    ("op://Private/Mail", SyntaxFlaw.foreign), ("op://Private/Mail/", .foreign),
    ("op://Private//password", .foreign), ("op://Private/a/b/c/d", .foreign),
    ("op://Private/Mail/x?attribute=type", .foreign), ("op://Private/My ?/x", .foreign),
    ("op://private/Mail/password", .foreignVault(Array("private".utf8))),
  ])
  func `what the table does not know is told`(_ text: String, _ flaw: SyntaxFlaw) {
    #expect(throws: CommandError.placed(Self.place, .syntax(flaw))) {
      try read(text, ["Private=kura://home/"])
    }
  }

  @Test(arguments: ["Private", "=kura://a/", "Private=kura://a", "Private=a/", "P=kura://a?x/"])
  func `a table's row names a vault and a prefix`(_ row: String) {
    #expect(throws: CommandError.self) { try read("kura://a", [row]) }
  }

  @Test func `without a table nothing else is a reference`() throws {
    let text = Array("op://Private/Mail/password".utf8)
    let plain = ReferenceDialect.plain.begins(text.span, at: 0)
    #expect(!plain)
    let reads = try ReferenceDialect(
      expands: false, Variables { _ in nil }, [Array("P=kura://".utf8)])
    let (first, second) = (reads.begins(text.span, at: 0), reads.begins(text.span, at: 1))
    #expect(first && !second)
  }
}
