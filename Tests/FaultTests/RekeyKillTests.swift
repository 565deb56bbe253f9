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
    desk.patience = 250_000
    var dice = Dice()
    for number in 0..<Scale.count(30, nightly: 1_000) {
      _ = try desk.putUntilKilled(&dice)
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        break
      }
    }
    let done = desk.companionStatuses.count { $0 == 0 }
    #expect(done > 0, "no rekey came to its end")
    #expect(done < desk.companionStatuses.count, "no rekey was interrupted")
  }
}
