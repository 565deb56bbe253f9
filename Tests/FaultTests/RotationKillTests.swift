// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// kill -9 of the agent amid rotations, with puts under way: everything reads, `verify` finds nothing, and
/// the rotation goes on to its end.
@Suite(
  "Killed rotations", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct RotationKillTests {
  @Test func `nothing is lost when the agent is killed amid a rotation`() throws {
    let desk = try RotationDesk()
    try desk.agent.learnPatience()
    var dice = Dice()
    let (count, enough) = (Scale.count(10, nightly: 1_000), 4)
    for number in 0..<10 * count where number < count || desk.interrupted < enough {
      _ = try desk.agent.putUntilKilled(&dice)
      if try desk.isUnderWay() { desk.interrupted += 1 }
      if let failure = try desk.check(finishing: number % 3 == 0) {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(desk.interrupted >= enough, "the agent was not killed amid the rotations")
    #expect(try desk.check(finishing: true) == nil)
  }

  @Test func `a data key that is dropped too early would be noticed`() throws {
    let desk = try RotationDesk()
    try desk.rotateHalf()
    #expect(try desk.reference("forget").status == 0)
    #expect(try desk.check(finishing: false) != nil)
  }

  @Test func `a cursor beyond rows of the old key loses none of them`() throws {
    let desk = try RotationDesk()
    try desk.rotateHalf()
    #expect(try desk.reference("skip").status == 0)
    #expect(try desk.check(finishing: true) == nil)
  }
}

/// A user whose vault is rotated again and again.
private final class RotationDesk {
  let agent: AgentDesk
  /// How many rotations were under way when the agent was killed.
  var interrupted = 0

  init() throws {
    agent = try AgentDesk()
    agent.companion = ["rotate", "--no-input"]
    try agent.unlock()
    for number in 0..<250 {
      let value = Bytes.pattern(200 + number * 13 % 3_000)
      try Bytes.write(value, to: agent.scratch.file("value"))
      try agent.demand(["put", "still/\(number)", "--file", agent.scratch.file("value")])
      if number % 25 == 0 { agent.acknowledged["still/\(number)"] = value }
    }
  }

  var vault: String { agent.scratch.file("data") + "/kura/default.kura" }

  /// Leaves a rotation of which one half is done, and no agent.
  func rotateHalf() throws {
    try agent.demand(["agent", "stop"])
    let tag = "80" + String(repeating: "0", count: 30)
    guard try reference("rotate", "--until", tag).status == 0 else {
      throw SystemFailure(call: "kura_ref.py rotate", number: 1)
    }
  }

  /// Whether some of the rows are under another data key than the rest, in what a killed agent left: a new
  /// agent might end the rotation before it tells.
  func isUnderWay() throws -> Bool {
    let database = try Database(vault)
    // That agent shall find what the killed one left.
    database.leaveJournal()
    try database.run("PRAGMA busy_timeout = 10000")
    let sql = "SELECT generation FROM item UNION SELECT generation FROM history"
    return try database.rows(sql).count > 1
  }

  /// What is missing or wrong after all; nil when nothing is.
  func check(finishing: Bool) throws -> String? {
    if let failure = try agent.check() { return failure }
    guard finishing else { return nil }
    guard try agent.kura(["rotate"]) == 0 else { return "rotate: \(try agent.output())" }
    if let failure = try agent.check() { return "after its end: \(failure)" }
    try agent.demand(["agent", "stop"])
    let generations = try reference("generations").lines
    return generations.count == 1 ? nil : "data keys and rows: \(generations)"
  }

  /// Runs the second implementation on the vault.
  func reference(_ verb: String, _ more: String...) throws -> Python.Output {
    let passcode = try Bytes.read(agent.passcode)
    return try Python.run(
      "kura_ref.py", [verb, vault, "--passcode-hex", Bytes.hex(passcode)] + more)
  }
}
