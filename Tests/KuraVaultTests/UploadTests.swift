// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `An upload` {
  /// Bytes of a chunk and of a batch, each with a little more and less, and several batches.
  @Test(arguments: [
    0, 1, 65_535, 65_536, 65_537, 131_072, 16 * 65_536, 17 * 65_536, 17 * 65_536 + 1, 5_000_003,
  ])
  func `comes back as it was sent`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let value = pattern(count)
    #expect(try vault.upload("a", value) == PutResult(revision: 1, previous: 0))
    #expect(try vault.get("a") == value)
    #expect(try vault.item("a").size == UInt64(count))
    #expect(try vault.findings() == [])
  }

  @Test func `comes in pieces of any length`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let value = pattern(3_000_000)
    for (index, piece) in [1 << 20, 65_537, 9_999].enumerated() {
      try vault.upload("v\(index)", value, piece: piece)
      #expect(try vault.get("v\(index)") == value)
    }
  }

  @Test func `is read in pieces of at most 64 KiB`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.upload("a", pattern(200_000))
    let name = Array("a".utf8)
    var value = try vault.value(name.span)
    #expect(value.isStream == true)
    #expect(bytes(of: value.bytes) == [])
    var counts: [Int] = []
    while let piece = try value.next(in: &vault) { counts.append(piece.count) }
    #expect(counts == [65_536, 65_536, 65_536, 3_392])
    #expect(try value.next(in: &vault) == nil)
  }

  @Test func `leaves the old value until it is committed`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "old")
    let name = Array("a".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .replace)
    let piece = pattern(1 << 20)
    for _ in 0..<4 { try vault.append(piece.span, to: &upload) }
    #expect(try vault.getText("a") == "old")
    #expect(try vault.findings() == [])
    #expect(try vault.commit(&upload) == PutResult(revision: 2, previous: 1))
    #expect(try vault.get("a") == piece + piece + piece + piece)
    #expect(try vault.getText("a", revision: 1) == "old")
  }

  @Test func `that is abandoned leaves nothing`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.put("a", "old")
    try abandonAfterStaging(&vault)
    #expect(file.attack("SELECT count(*) FROM loose") == ["1"])
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM loose", "SELECT count(*) FROM chunk") == ["0", "0"])
    #expect(try vault.getText("a") == "old")
    #expect(try vault.findings() == [])
  }

  @Test func `whose engine is gone is swept at the next unlock`() throws {
    let file = try TestVault()
    do {
      var vault = try file.unlock()
      try stageAndDrop(&vault)
    }
    #expect(file.attack("SELECT count(*) FROM loose") == ["1"])
    var vault = try file.unlock()
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM loose", "SELECT count(*) FROM chunk") == ["0", "0"])
  }

  @Test func `under way in another engine is not swept`() throws {
    let file = try TestVault()
    var first = try file.unlock()
    let name = Array("a".utf8)
    var upload = try first.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .create)
    let piece = pattern(1 << 20)
    for _ in 0..<3 { try first.append(piece.span, to: &upload) }
    var second = try file.unlock()
    try second.sweepAll()
    #expect(try first.commit(&upload).revision == 1)
    #expect(try second.get("a") == piece + piece + piece)
    #expect(try second.findings() == [])
  }

  @Test func `that is committed while another engine is about to sweep it stays`() throws {
    let file = try TestVault()
    var sweeping = try file.unlock()
    // Only engines that share this directory see each other's lock.
    file.sharedState = file.directory + "/other"
    var storing = try file.unlock()
    let name = Array("a".utf8)
    var upload = try storing.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .create)
    let piece = pattern(1 << 20)
    for _ in 0..<3 { try storing.append(piece.span, to: &upload) }
    // One call lists the orphans, one finds that no item names it.
    for _ in 0..<2 { #expect(try sweeping.sweep() == true) }
    #expect(sweeping.sweeper.queue.count == 1)
    #expect(try storing.commit(&upload).revision == 1)
    try sweeping.sweepAll()
    #expect(sweeping.sweeper.queue.count == 0)
    #expect(try storing.get("a") == piece + piece + piece)
    #expect(try storing.findings() == [])
  }

  @Test func `that was swept all the same is told`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let name = Array("a".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .create)
    let piece = pattern(1 << 20)
    for _ in 0..<3 { try vault.append(piece.span, to: &upload) }
    file.attack("DELETE FROM chunk WHERE number = 0")
    #expect(throws: VaultError.uploadLost) { try vault.commit(&upload) }
    #expect(throws: VaultError.notFound) { try vault.get("a") }
  }

  @Test func `checks its condition at the start and at the end`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let name = Array("a".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .create)
    let piece = pattern(100_000)
    try vault.append(piece.span, to: &upload)
    try vault.put("a", "first")
    #expect(throws: VaultError.exists(revision: 1)) { try vault.commit(&upload) }
    #expect(throws: VaultError.exists(revision: 1)) {
      _ = try vault.beginUpload(
        name.span, attributes: AttributeEdits(), condition: .create)
    }
    #expect(try vault.getText("a") == "first")
  }

  @Test func `can be gone on with after another engine was in the way`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let name = Array("a".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .create)
    let piece = pattern(1 << 20)
    try vault.append(piece.span, to: &upload)
    try vault.append(piece.span, to: &upload)
    let blocker = try Blocker(file)
    #expect(throws: VaultError.busy) { try vault.append(piece.span, to: &upload) }
    #expect(throws: VaultError.busy) { try vault.commit(&upload) }
    blocker.release()
    try vault.append(piece.span, to: &upload)
    #expect(try vault.commit(&upload).revision == 1)
    #expect(try vault.get("a") == piece + piece + piece)
  }

  private func abandonAfterStaging(_ vault: inout UnlockedVault) throws {
    let name = Array("a".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .replace)
    let piece = pattern(1 << 20)
    for _ in 0..<4 { try vault.append(piece.span, to: &upload) }
    vault.abandon(upload)
  }

  private func stageAndDrop(_ vault: inout UnlockedVault) throws {
    let name = Array("a".utf8)
    var upload = try vault.beginUpload(
      name.span, attributes: AttributeEdits(), condition: .replace)
    let piece = pattern(1 << 20)
    for _ in 0..<4 { try vault.append(piece.span, to: &upload) }
  }
}

@Suite struct `A large value` {
  @Test func `that drops out of the history is deleted with its chunks`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.historyDepth, to: 1)
    try vault.upload("a", pattern(300_000))
    try vault.upload("a", pattern(400_000))
    #expect(file.attack("SELECT count(*) FROM chunk") == ["12"])
    try vault.upload("a", pattern(70_000))
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM chunk", "SELECT count(*) FROM loose") == ["9", "0"])
    #expect(try vault.get("a", revision: 2) == pattern(400_000))
    #expect(try vault.findings() == [])
  }

  @Test func `is shared by the revisions that only changed attributes`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.historyDepth, to: 1)
    try vault.upload("a", pattern(300_000))
    let name = Array("a".utf8)
    for number in 1...4 { try vault.setAttributes(name.span, edits(["k": "\(number)"])) }
    try vault.sweepAll()
    #expect(try vault.get("a") == pattern(300_000))
    #expect(try vault.get("a", revision: 4) == pattern(300_000))
    #expect(try vault.findings() == [])
    try vault.put("a", "small")
    try vault.put("a", "smaller")
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM chunk") == ["0"])
  }

  @Test func `that is dropped while it is read is told`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.historyDepth, to: 0)
    let whole = pattern(2_000_000)
    try vault.upload("a", whole)
    let name = Array("a".utf8)
    var value = try vault.value(name.span)
    var read: [UInt8] = []
    if let piece = try value.next(in: &vault) { read = bytes(of: piece.bytes) }
    try vault.put("a", "new")
    try vault.sweepAll()
    // What was read ahead is still true.
    var refusal: VaultError?
    do throws(VaultError) {
      while let piece = try value.next(in: &vault) { read += bytes(of: piece.bytes) }
    } catch { refusal = error }
    #expect(refusal == .changed)
    #expect(read == Array(whole.prefix(read.count)))
    #expect(read.count < whole.count)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17])
  func `damaged in two chunks gives out those before the first`(number: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let whole = pattern(1_200_000)
    try vault.upload("a", whole)
    let bad = "\(number), \(number + 2)"
    file.attack("UPDATE chunk SET data = zeroblob(length(data)) WHERE number IN (\(bad))")
    let name = Array("a".utf8)
    var value = try vault.value(name.span)
    var read: [UInt8] = []
    var refusal: VaultError?
    do throws(VaultError) {
      while try value.advance(in: &vault, handingOut: { read += piece(in: $0) }) {}
    } catch { refusal = error }
    #expect(refusal == .damaged(.chunk))
    #expect(read == Array(whole.prefix(number * 65_536)))
    #expect(throws: VaultError.damaged(.chunk)) {
      _ = try value.advance(in: &vault) { _ in Issue.record("what is damaged was handed out") }
    }
  }

  /// One chunk and one slice, each with a little more and less, and several slices.
  @Test(arguments: [
    65_537, 131_072, 8 * 65_536 - 1, 8 * 65_536, 8 * 65_536 + 1, 9 * 65_536, 16 * 65_536 - 1,
    16 * 65_536, 16 * 65_536 + 1, 24 * 65_536, 25 * 65_536 + 1,
  ])
  func `is handed out in order, behind room that is blank`(count: Int) throws {
    let file = try TestVault()
    var vault = try file.unlock()
    let whole = pattern(count)
    try vault.upload("a", whole)
    let name = Array("a".utf8)
    var value = try vault.value(name.span)
    var (read, calls, dirty): ([UInt8], Int, Int) = ([], 0, 0)
    var hasMore = true
    while hasMore {
      hasMore = try value.advance(in: &vault) { buffer in
        dirty += bytes(of: buffer.bytes).prefix(Value.roomBeforePiece).count { $0 != 0 }
        read += piece(in: buffer)
        // What a taker writes there is not there for the next piece.
        buffer.overwrite(at: 0, with: "written here".utf8.span)
      }
      calls += 1
    }
    #expect(read == whole)
    #expect(dirty == 0)
    // One to open the first slice, and one for each to be handed out.
    #expect(calls == 1 + (count + 8 * 65_536 - 1) / (8 * 65_536))
    #expect(try !value.advance(in: &vault) { _ in Issue.record("handed out twice") })
  }

  /// What a buffer holds behind the room for its taker.
  private func piece(in buffer: borrowing SecretBuffer) -> [UInt8] {
    bytes(of: buffer.bytes.extracting(droppingFirst: Value.roomBeforePiece))
  }

  @Test func `takes the place of a value that is to be deleted`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.setPolicy(.historyDepth, to: 0)
    try vault.upload("a", pattern(5_000_000))
    try vault.put("a", "short")
    let before = file.attack("PRAGMA page_count")
    let new = pattern(5_000_000, seed: 9)
    try vault.upload("b", new)
    // Most of the old pieces went while the new ones came, into the same pages.
    let pages = try #require(Int(file.attack("PRAGMA page_count")[0]))
    #expect(pages < (try #require(Int(before[0]))) + 700)
    try vault.sweepAll()
    #expect(file.attack("SELECT count(*) FROM chunk", "SELECT count(*) FROM loose") == ["77", "0"])
    #expect(try vault.get("b") == new)
    #expect(try vault.findings() == [])
  }

  @Test func `with a missing or swapped chunk is damaged`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.upload("a", pattern(300_000))
    try vault.upload("b", pattern(300_000, seed: 8))
    file.attack(
      """
      UPDATE chunk SET data = (SELECT data FROM chunk c WHERE c.value = chunk.value AND c.number = 2)
      WHERE number = 1
      """)
    #expect(throws: VaultError.damaged(.chunk)) { try vault.get("a") }
    file.attack("DELETE FROM chunk WHERE number = 1")
    #expect(throws: VaultError.damaged(.chunk)) { try vault.get("a") }
    #expect(try vault.findings().sorted() == ["chunk: a", "chunk: b"])
  }

  @Test func `of another revision does not open`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.upload("a", pattern(300_000))
    let old = file.attack("SELECT hex(value) FROM chunk LIMIT 1")[0]
    try vault.upload("a", pattern(300_000, seed: 8))
    file.attack(
      """
      UPDATE chunk SET data = (SELECT data FROM chunk c WHERE hex(c.value) = '\(old)'
      AND c.number = chunk.number) WHERE hex(value) <> '\(old)'
      """)
    #expect(throws: VaultError.damaged(.chunk)) { try vault.get("a") }
  }
}
