// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// kill -9 of the agent amid rekeys, with puts under way: the vault is whole under the old key or whole
/// under the new one, and everything acknowledged reads.
@Suite("Killed rekeys", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct RekeyKillTests {
  @Test func `nothing is lost when the agent is killed amid a rekey`() throws {
    let desk = try AgentDesk()
    try desk.unlock()
    for number in 0..<200 {
      let value = Bytes.pattern(200 + number * 13 % 3_000)
      try Bytes.write(value, to: desk.scratch.file("value"))
      try desk.demand(["put", "still/\(number)", "--file", desk.scratch.file("value")])
      if number % 20 == 0 { desk.acknowledged["still/\(number)"] = value }
    }
    desk.companion = ["rekey", "--yes", "--no-recovery-key", "--passcode-file", desk.passcode]
    try desk.learnPatience()
    var dice = Dice()
    var done: Int { desk.companionStatuses.count { $0 == 0 } }
    var interrupted: Int { desk.companionStatuses.count - done }
    let count = Scale.count(15, nightly: 1_000)
    // What an agent lives to see is the machine's to say: more of them where it does other things as well.
    for number in 0..<10 * count where number < count || done == 0 || interrupted == 0 {
      _ = try desk.putUntilKilled(&dice)
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(done > 0, "no rekey came to its end: \(desk.companionStatuses)")
    #expect(interrupted > 0, "no rekey was interrupted: \(desk.companionStatuses)")
  }
}
