// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `A batch of what was kept elsewhere` {
  @Test func `keeps the times, the kinds and the history that it is told`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let uri = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    let past = [
      Given("a", "one", ["user": "ann", "gone": "x"], at: 1_000),
      Given("b", "", at: 5_000, as: .deleted),
      Given("code", uri, at: 6_000, as: .otp),
      Given("a", "two", ["user": "bob"], at: 2_000),
      Given("a", "", at: 3_000, as: .deleted),
      Given("a", "three", at: 4_000),
      Given("gone", "x", at: 7_000),
      Given("gone", "", at: 8_000, as: .deleted),
    ]
    #expect(try vault.store(past, replacing: true).stored == past.count)
    #expect(
      try vault.history(of: "a") == [
        "one value 500 1000 gone=x user=ann", "two value 500 2000 user=bob", " deleted 500 3000 ",
        "three value 500 4000 ",
      ])
    #expect(try vault.history(of: "code") == ["\(uri) otp 500 6000 "])
    #expect(try vault.history(of: "gone") == ["x value 500 7000 ", " deleted 500 8000 "])
    #expect(throws: VaultError.notFound) { try vault.history(of: "b") }
    #expect(try vault.names() == ["a", "code"])
    #expect(vault.summary.deletedCount == 1)
    #expect(try vault.findings() == [])
  }

  @Test func `takes no codes of what makes none`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let result = try vault.store([Given("a", "1"), Given("b", "no URI", at: 1, as: .otp)])
    #expect(result.stored == 1 && result.index == 1)
    guard case .otpInvalid = result.error else {
      Issue.record("\(result)")
      return
    }
    #expect(try vault.names() == ["a"])
  }

  @Test func `replaces what it is told to, and nothing else`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    try vault.put("b", "1")
    var given = Given("a", "2")
    given.manner.isReplacing = true
    let result = try vault.store([given, Given("b", "2")])
    #expect(result.stored == 1 && result.error == .exists(revision: 1))
    #expect(try vault.getText("a") == "2")
    #expect(try vault.getText("b") == "1")
  }

  @Test func `deletes only where that is allowed`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "1")
    let result = try vault.store([Given("a", "", at: 1, as: .deleted)])
    #expect(result.error == .exists(revision: 1))
    #expect(try vault.names() == ["a"])
  }

  @Test func `has values of any length, all of it or nothing`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let piece = (0..<ItemBody.longestInline).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let lengths = [1, piece.count, piece.count + 1, 5 * piece.count / 2]
    func store(
      _ given: [Given], replacing: Bool, in vault: inout UnlockedVault
    ) throws -> PutBatchEnd {
      var batch = try vault.beginBatch(replacing: replacing, whole: true)
      for item in given {
        let name = Array(item.name.utf8)
        let isAdded = try vault.add(
          name.span, value: piece.span, attributes: item.attributes.span, as: item.manner,
          to: &batch)
        for length in lengths where isAdded {
          var rest = length
          while rest > 0 {
            let count = min(rest, piece.count)
            #expect(try vault.add(more: piece.span.extracting(first: count), to: &batch))
            rest -= count
          }
        }
      }
      while try vault.advance(batch: &batch) {}
      return PutBatchEnd(stored: batch.storedCount, index: batch.failure?.index)
    }
    var kept = Given("long", "", ["k": "v"])
    kept.manner.isProtecting = true
    let names = (0..<6).map { Given("item/\($0)", "") }
    #expect(try store([Given("long", "")] + names, replacing: false, in: &vault).stored == 7)
    let whole = piece.count + lengths.reduce(0, +)
    #expect(try vault.get("long").count == whole)
    #expect(try vault.get("item/5").count == whole)
    #expect(try vault.findings() == [])
    // The second of these exists: the first one's pieces are not in the file.
    let failed = try store(
      [Given("new", ""), Given("long", ""), Given("other", "")], replacing: false, in: &vault)
    #expect(failed == PutBatchEnd(stored: 0, index: 1))
    #expect(throws: VaultError.notFound) { try vault.get("new") }
    #expect(try vault.findings() == [])
    #expect(try store([kept], replacing: true, in: &vault).stored == 1)
    #expect(throws: VaultError.protected) { try vault.get("long") }
    #expect(try vault.findings() == [])
    vault.lock().close()
    var again = try file.unlock()
    #expect(try again.get("item/1").suffix(3) == piece.prefix(piece.count / 2).suffix(3))
    #expect(try again.findings() == [])
  }

  /// What became of a batch that is whole.
  private struct PutBatchEnd: Equatable {
    var stored: Int
    var index: Int?
  }
}
