// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Compactions that are cut off at any point, with puts under way: the vault is whole, long or short, everything
/// acknowledged reads, and nothing is left beside it.
@Suite(
  "Killed compactions", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct CompactionKillTests {
  /// A vault that compactions take a while for.
  private func desk() throws -> AgentDesk {
    let desk = try AgentDesk()
    try desk.unlock()
    for number in 0..<20 {
      let value = Bytes.pattern(300_000 + number * 13)
      try Bytes.write(value, to: desk.scratch.file("value"))
      try desk.demand(["put", "still/\(number)", "--file", desk.scratch.file("value")])
      if number % 5 == 0 { desk.acknowledged["still/\(number)"] = value }
    }
    desk.companion = ["verify", "--compact", "--no-input"]
    try makeRoom(desk)
    try desk.learnPatience()
    return desk
  }

  /// Leaves room in the file that can be given back.
  private func makeRoom(_ desk: AgentDesk) throws {
    try desk.unlock()
    try Bytes.write(Bytes.pattern(3_000_000), to: desk.scratch.file("value"))
    try desk.demand(["put", "large", "--replace", "--file", desk.scratch.file("value")])
    try desk.demand(["purge", "large", "--yes"])
  }

  /// Cuts compactions off until some came to their end and some did not.
  private func cutOff(
    _ desk: AgentDesk, _ count: Int, _ body: (inout Dice) throws -> Void
  ) throws {
    var dice = Dice()
    var done: Int { desk.companionStatuses.count { $0 == 0 } }
    var interrupted: Int { desk.companionStatuses.count - done }
    // What an agent lives to see is the machine's to say: more of them where it does other things as well.
    for number in 0..<10 * count where number < count || done == 0 || interrupted == 0 {
      try makeRoom(desk)
      try body(&dice)
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(done > 0, "no compaction came to its end: \(desk.companionStatuses)")
    #expect(interrupted > 0, "no compaction was interrupted: \(desk.companionStatuses)")
    try makeRoom(desk)
    try desk.demand(["verify", "--compact"])
    try desk.demand(["lock"])
    #expect(try desk.vaultFiles() == ["default.kura"])
  }

  @Test func `nothing is lost when the agent is killed amid a compaction`() throws {
    let desk = try desk()
    try cutOff(desk, Scale.count(8, nightly: 1_000)) { dice in
      _ = try desk.putUntilKilled(&dice)
    }
  }

  @Test func `nothing is lost when the vault is locked amid a compaction, and one file is left`()
    throws
  {
    let desk = try desk()
    try cutOff(desk, Scale.count(5, nightly: 300)) { dice in
      let status = try desk.interrupt(after: &dice) { _ in try desk.demand(["lock"]) }
      #expect([0, 4].contains(status))
      #expect(try desk.vaultFiles() == ["default.kura"])
    }
  }

  @Test func `nothing is lost when the client of a compaction is interrupted, and it ends`()
    throws
  {
    let desk = try desk()
    try cutOff(desk, Scale.count(5, nightly: 300)) { dice in
      let status = try desk.interrupt(after: &dice) { client in kill(client, SIGINT) }
      #expect([0, 130].contains(status))
      // Waits for what is left of it.
      try desk.demand(["put", "after", "--replace", "--file", desk.passcode])
      try desk.demand(["lock"])
      #expect(try desk.vaultFiles() == ["default.kura"])
    }
  }
}
