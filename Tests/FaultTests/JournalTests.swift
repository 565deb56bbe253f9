// SPDX-License-Identifier: MIT

import Foundation
import KuraVault
import Testing

/// Damage to the journal that a killed engine leaves: SQLite drops what follows a damaged frame
/// without a word, so that only what this machine saw tells the older state from the last one.
@Suite("Bytes of the journal", .serialized)
struct JournalTests {
  let left: LeftBehind

  init() throws { left = try LeftBehind() }

  @Test func `an untouched journal is played into the vault`() throws {
    let reading = try left.reading(journal: left.journal, in: Scratch())
    #expect(reading.isHarmless, "\(reading)")
  }

  @Test func `a lost journal is a rollback, and nobody else would notice`() throws {
    let reading = try left.reading(journal: [], in: Scratch())
    guard case .rolledBack = reading.refusal else {
      Issue.record("\(reading)")
      return
    }
    let blind = try left.reading(journal: [], in: Scratch(), checks: .all.subtracting(.seen))
    #expect(!blind.isSound, "\(blind)")
  }

  @Test func `every flipped bit of the journal is detected or harmless`() {
    var dice = Dice()
    let first = Int.random(in: 0..<8, using: &dice)
    let left = left
    let step = Scale.isNightly ? 1 : 163
    let failures = Trials.run(left.journal.count * 8 / step) { number, scratch in
      let bit = number * step + first
      guard bit < left.journal.count * 8 else { return nil }
      var journal = left.journal
      journal[bit / 8] ^= 1 << UInt8(bit % 8)
      let reading = try left.reading(journal: journal, in: scratch)
      return reading.isSound ? nil : "bit \(bit): \(reading)"
    }
    #expect(failures.isEmpty, "seed \(dice.seed): \(failures)")
  }

  @Test func `every truncation of the journal is detected or harmless`() {
    let left = left
    let step = Scale.isNightly ? 1 : 97
    let failures = Trials.run(left.journal.count / step) { number, scratch in
      let reading = try left.reading(
        journal: Array(left.journal.prefix(number * step)), in: scratch)
      return reading.isSound ? nil : "length \(number * step): \(reading)"
    }
    #expect(failures.isEmpty, "\(failures)")
  }
}

/// What an engine leaves that was killed after three changes: the vault file, the journal with the
/// changes, and the seen file.
struct LeftBehind: Sendable {
  let journal: [UInt8]
  private let file: [UInt8]
  private let seen: (name: String, bytes: [UInt8])
  private let specimen: Specimen

  init() throws {
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    let beginning = try Specimen(vector: "good-small")
    try Bytes.write(beginning.file, to: path)
    let site = Site(state: scratch.file("state"))
    var vault = try Engine.open(path, at: site, with: beginning.secret)
    try Engine.put("c", Array("changed".utf8), in: &vault)
    try Engine.put("fresh", Array("value".utf8), ["k": "v"], in: &vault)
    try Engine.remove("a/b", in: &vault)
    try vault.flushSeen()
    let lines = try Engine.lines(&vault)
    file = try Bytes.read(path)
    journal = try Bytes.read(path + "-wal")
    let name = "\(vault.id.hexadecimal).seen"
    seen = (name, try Bytes.read("\(site.state)/\(name)"))
    vault.lock().close()
    specimen = Specimen(
      file: file, secret: beginning.secret, expected: lines.map { ExpectedLine($0) })
  }

  func reading(journal: [UInt8], in scratch: Scratch, checks: IntegrityChecks = .all) throws
    -> Reading
  {
    let path = scratch.file("vault.kura")
    unlink(path + "-shm")
    try Bytes.write(file, to: path)
    try Bytes.write(journal, to: path + "-wal")
    mkdir(scratch.file("state"), 0o700)
    try Bytes.write(seen.bytes, to: "\(scratch.file("state"))/\(seen.name)")
    let site = Site(state: scratch.file("state"), checks: checks)
    return Reading(path, at: site, with: specimen.secret, expected: specimen.expected)
  }
}
