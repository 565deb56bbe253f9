// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Backups that are cut off at any point, with puts under way: what has the name is a whole vault, the one before or
/// the new one, and the vault is untouched.
@Suite(
  "Killed backups", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct BackupKillTests {
  private func desk() throws -> AgentDesk {
    let desk = try AgentDesk()
    try desk.unlock()
    try Bytes.write(Bytes.pattern(4_000_000), to: desk.scratch.file("value"))
    try desk.demand(["put", "large", "--file", desk.scratch.file("value")])
    _ = try desk.scratch.directory("stick")
    desk.companion = ["backup", copy(desk)]
    try desk.learnPatience()
    return desk
  }

  private func copy(_ desk: AgentDesk) -> String { desk.scratch.file("stick") + "/copy.kura" }

  /// What is wrong with the backup; nil where it is whole.
  private func flaw(_ desk: AgentDesk) throws -> String? {
    let database = try Database(copy(desk))
    let sound = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"
    guard try database.rows(sound) == [[.integer(1)]] else { return "the backup is no database" }
    guard try database.rows("SELECT count(*) > 60 FROM chunk") == [[.integer(1)]] else {
      return "chunks of the backup are missing"
    }
    return nil
  }

  private func cutOff(
    _ desk: AgentDesk, _ count: Int, _ body: (inout Dice) throws -> Void
  ) throws {
    var dice = Dice()
    var done: Int { desk.companionStatuses.count { $0 == 0 } }
    var interrupted: Int { desk.companionStatuses.count - done }
    for number in 0..<10 * count where number < count || done == 0 || interrupted == 0 {
      // Every other time there is none before.
      if number % 2 == 0 { unlink(copy(desk)) }
      try body(&dice)
      let isThere = FileManager.default.fileExists(atPath: copy(desk))
      #expect(isThere || number % 2 == 0 || desk.companionStatuses.last != 0)
      if let failure = try (isThere ? flaw(desk) : nil) ?? desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(done > 0, "no backup came to its end: \(desk.companionStatuses)")
    #expect(interrupted > 0, "no backup was interrupted: \(desk.companionStatuses)")
    try desk.demand(["backup", copy(desk)])
    let left = try FileManager.default.contentsOfDirectory(atPath: desk.scratch.file("stick"))
    #expect(left == ["copy.kura"])
  }

  @Test func `no half backup has the name when the agent is killed amid it`() throws {
    let desk = try desk()
    try cutOff(desk, Scale.count(8, nightly: 1_000)) { dice in
      _ = try desk.putUntilKilled(&dice)
    }
  }

  @Test func `no half backup has the name when its client is interrupted`() throws {
    let desk = try desk()
    try cutOff(desk, Scale.count(5, nightly: 300)) { dice in
      let status = try desk.interrupt(after: &dice) { client in kill(client, SIGINT) }
      #expect([0, 130].contains(status))
    }
  }
}
