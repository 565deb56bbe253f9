// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraCLI
@testable import KuraClient

@Suite struct `A question for the owner` {
  private func wish(
    _ names: [String], chain: String = "kura 110 < make 100", reasons: [String] = [""]
  ) throws -> WishSummary {
    var list = try SecretBuffer(capacity: 64)
    for name in names { try list.put16(Array(name.utf8).span, limit: ProtocolLimit.name) }
    var askers = try SecretBuffer(capacity: 64)
    for reason in reasons {
      try WishAskers.put(
        chain: Array(chain.utf8).span, reason: Array(reason.utf8).span, into: &askers)
    }
    var entry = WishEntry(
      KeyFields(list.bytes, count: names.count), program: Array("make".utf8).span,
      askers: WishAskers(askers.bytes, count: reasons.count))
    (entry.number, entry.process) = (1, 100)
    return WishSummary(entry, Array("shown".utf8).span)
  }

  private func lines(_ wish: WishSummary) -> [String] {
    wish.words.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  @Test func `has who asks, in whose words what for, and each name on a line of its own`() throws {
    let lines = lines(try wish(["pin", "a  b"], reasons: ["a build", ""]))
    #expect(lines[0...2] == ["asked by kura 110 < make 100", "it says: a build", lines[0]])
    #expect(lines[3].hasPrefix("make (100, since "))
    #expect(lines[3].hasSuffix(") and the programs below it ask to read:"))
    #expect(lines[4...] == ["  pin", "  a\\x20(2)b"])
  }

  @Test func `makes no line that others began, however long the names are`() throws {
    let names = ["x", "\u{5B57}"].flatMap { character in
      (70...76).map { String(repeating: character, count: $0) + " passcode for default: " }
    }
    let all = lines(try wish(names, chain: String(repeating: "sh 12345 < ", count: 9) + "..."))
    for line in all {
      let width = line.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x1100 ? 2 : 1) }
      #expect(width < 80, "\(line)")
    }
    let own = all.filter { !$0.hasPrefix(" ") }
    #expect(own.count == 2 && own[0].hasPrefix("asked by ") && own[1].hasPrefix("make (100"))
    // A name begins at the second column, and goes on at the fourth.
    #expect(all.filter { $0.hasPrefix("  ") && !$0.hasPrefix("    ") }.count == names.count)
  }

  @Test func `that changes while it stands keeps no other waiting`() {
    var turns = ApprovalTurns()
    #expect(turns.next(of: []) == nil)
    #expect(turns.next(of: [1, 2, 3]) == 1)
    turns.putBack(1)
    #expect(turns.next(of: [1, 2, 3]) == 2)
    turns.putBack(2)
    #expect(turns.next(of: [1, 2, 3]) == 3)
    turns.putBack(3)
    // All have changed: the one that did so first goes first.
    #expect(turns.next(of: [1, 2, 3]) == 1)
    turns.putBack(1)
    #expect(turns.next(of: [1, 2, 3]) == 2)
    #expect(turns.next(of: [1]) == 1)
  }
}
