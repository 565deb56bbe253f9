// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Takeovers, merges and imports that are cut off at any point, with puts under way: the vault is as it was before or as it is
/// after, nothing that was put is lost, and the same asked again comes to its end.
@Suite(
  "Killed takeovers, merges and imports", .serialized,
  .enabled(if: Programs.areBuilt, "run make build first"))
struct MergeKillTests {
  private static let items = 800

  /// A vault with many items.
  private func desk() throws -> AgentDesk {
    let desk = try AgentDesk()
    try desk.unlock()
    try desk.demand(["put", "--batch", "--file", try lines("item", in: desk)])
    try Bytes.write(Array("4711".utf8), to: desk.scratch.file("pin"))
    return desk
  }

  private func lines(_ folder: String, in desk: AgentDesk) throws -> String {
    let path = desk.scratch.file(folder + ".lines")
    let text = (0..<Self.items).map {
      "{\"name\":\"\(folder)/\($0)\",\"value\":\"\(folder) \($0)\"}\n"
    }
    try Bytes.write(Array(text.joined().utf8), to: path)
    return path
  }

  private func takeover(_ desk: AgentDesk) -> [String] {
    ["attr", "item/1", "--secret", "pin", "--file", desk.scratch.file("pin")]
  }

  /// Kills agents until some died amid their work and some after it, each on a desk of its own.
  private func cutOff(
    _ count: Int, _ make: () throws -> AgentDesk, _ check: (AgentDesk) throws -> Void
  ) throws {
    var dice = Dice()
    let first = try make()
    try first.learnPatience()
    try check(first)
    var (done, cut) = (0, 0)
    for number in 0..<20 * count where number < count || done == 0 || cut == 0 {
      let desk = try make()
      desk.patience = first.patience
      _ = try desk.putUntilKilled(&dice)
      first.patience = desk.patience
      if desk.companionStatuses == [0] { done += 1 } else { cut += 1 }
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
      try check(desk)
    }
    #expect(done > 0, "none came to its end")
    #expect(cut > 0, "none was cut off")
  }

  @Test func `a vault is of one format or the other when the agent is killed amid a takeover`()
    throws
  {
    try cutOff(Scale.count(3, nightly: 100)) {
      let desk = try desk()
      desk.companion = takeover(desk)
      return desk
    } _: { desk in
      let copy = desk.scratch.file("data") + "/kura/default.kura.format-1"
      if FileManager.default.fileExists(atPath: copy) {
        let database = try Database(copy)
        let sound = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"
        #expect(try database.rows(sound) == [[.integer(1)]])
        #expect(try database.rows("PRAGMA user_version") == [[.integer(1)]])
      }
      try desk.demand(takeover(desk))
      try desk.demand(["get", "item/1", "--attr", "pin"])
      #expect(try desk.output() == "4711")
      try desk.demand(["status", "--json"])
      #expect(try desk.output().contains("\"format\":2"))
      try desk.demand(["verify"])
    }
  }

  @Test func `all of a copy comes, or nothing, when the agent is killed amid a merge`() throws {
    try cutOff(Scale.count(3, nightly: 100)) {
      let desk = try desk()
      try desk.demand(takeover(desk))
      let there = try desk.scratch.directory("there") + "/copy.kura"
      try desk.demand(["backup", there])
      try desk.elsewhere(there, ["put", "--batch", "--file", try lines("there", in: desk)])
      desk.companion = ["merge", there]
      return desk
    } _: { desk in
      try desk.demand(["list", "there/"])
      let count = try desk.output().split(separator: "\n").count
      #expect([0, Self.items].contains(count))
      try desk.demand(["merge", desk.scratch.file("there") + "/copy.kura"])
      try desk.demand(["list", "there/"])
      #expect(try desk.output().split(separator: "\n").count == Self.items)
      try desk.demand(["verify"])
    }
  }

  @Test func `all of a source comes, or nothing, when the agent is killed amid an import`() throws {
    let count = 3_000
    try cutOff(Scale.count(2, nightly: 50)) {
      let desk = try desk()
      try desk.demand(takeover(desk))
      let rows = (0..<count).map { "there \($0),,user \($0),value \($0)\n" }.joined()
      let text = "name,url,username,password\n" + rows
      try Bytes.write(Array(text.utf8), to: desk.scratch.file("rows.csv"))
      desk.companion = ["import", "chrome-csv", desk.scratch.file("rows.csv"), "--into", "came"]
      return desk
    } _: { desk in
      try desk.demand(["list", "came/"])
      #expect([0, count].contains(try desk.output().split(separator: "\n").count))
      let again = ["import", "chrome-csv", desk.scratch.file("rows.csv"), "--into", "came"]
      try desk.demand(again)
      try desk.demand(["list", "came/"])
      #expect(try desk.output().split(separator: "\n").count == count)
      try desk.demand(["verify"])
    }
  }
}
