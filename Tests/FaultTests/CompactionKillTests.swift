// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// kill -9 of the agent amid compactions, with puts under way: the vault is whole, long or short, and
/// everything acknowledged reads.
@Suite(
  "Killed compactions", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct CompactionKillTests {
  @Test func `nothing is lost when the agent is killed amid a compaction`() throws {
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
    var dice = Dice()
    var done: Int { desk.companionStatuses.count { $0 == 0 } }
    var interrupted: Int { desk.companionStatuses.count - done }
    let count = Scale.count(15, nightly: 1_000)
    // What an agent lives to see is the machine's to say: more of them where it does other things as well.
    for number in 0..<10 * count where number < count || done == 0 || interrupted == 0 {
      try makeRoom(desk)
      _ = try desk.putUntilKilled(&dice)
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(done > 0, "no compaction came to its end")
    #expect(interrupted > 0, "no compaction was interrupted")
  }

  /// Leaves room in the file that can be given back.
  private func makeRoom(_ desk: AgentDesk) throws {
    try desk.unlock()
    try Bytes.write(Bytes.pattern(3_000_000), to: desk.scratch.file("value"))
    try desk.demand(["put", "large", "--replace", "--file", desk.scratch.file("value")])
    try desk.demand(["purge", "large", "--yes"])
  }
}
