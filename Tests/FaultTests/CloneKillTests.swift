// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Clones that are cut off at any point, with puts under way: what has the name is a whole vault with an id of its own, and
/// the vault is untouched.
@Suite("Killed clones", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct CloneKillTests {
  private func desk() throws -> AgentDesk {
    let desk = try AgentDesk()
    try desk.unlock()
    try Bytes.write(Bytes.pattern(4_000_000), to: desk.scratch.file("value"))
    try desk.demand(["put", "large", "--file", desk.scratch.file("value")])
    _ = try desk.scratch.directory("stick")
    desk.companion = [
      "clone", clone(desk), "--no-recovery-key", "--passcode-file", desk.passcode,
    ]
    try desk.learnPatience()
    return desk
  }

  private func clone(_ desk: AgentDesk) -> String { desk.scratch.file("stick") + "/clone.kura" }

  /// What is wrong with the clone; nil where it is whole.
  private func flaw(_ desk: AgentDesk) throws -> String? {
    let database = try Database(clone(desk))
    let sound = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"
    guard try database.rows(sound) == [[.integer(1)]] else { return "the clone is no database" }
    guard try database.rows("SELECT count(*) > 60 FROM chunk") == [[.integer(1)]] else {
      return "chunks of the clone are missing"
    }
    let header = "SELECT data FROM part WHERE id = 0"
    let own = try Database(desk.scratch.file("data") + "/kura/default.kura").rows(header)
    guard try database.rows(header) != own else { return "it is the vault, and no clone" }
    return nil
  }

  @Test func `no half clone has the name when the agent is killed amid it`() throws {
    let desk = try desk()
    var dice = Dice()
    var done: Int { desk.companionStatuses.count { $0 == 0 } }
    var interrupted: Int { desk.companionStatuses.count - done }
    let count = Scale.count(5, nightly: 500)
    for number in 0..<10 * count where number < count || done == 0 || interrupted == 0 {
      unlink(clone(desk))
      _ = try desk.putUntilKilled(&dice)
      let isThere = FileManager.default.fileExists(atPath: clone(desk))
      if let failure = try (isThere ? flaw(desk) : nil) ?? desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(done > 0, "no clone came to its end: \(desk.companionStatuses)")
    #expect(interrupted > 0, "no clone was interrupted: \(desk.companionStatuses)")
    unlink(clone(desk))
    let clone = clone(desk)
    try desk.demand(["clone", clone, "--no-recovery-key", "--passcode-file", desk.passcode])
    // What was killed left nothing that lasts.
    let left = try FileManager.default.contentsOfDirectory(atPath: desk.scratch.file("stick"))
    #expect(left == ["clone.kura"])
    try desk.demand(["unlock", "--vault", clone, "--passcode-file", desk.passcode])
    try desk.demand(["verify", "--vault", clone])
  }
}
