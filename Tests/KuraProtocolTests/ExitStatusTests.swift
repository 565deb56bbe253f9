// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

struct ExitStatusTests {
  @Test func `the statuses are the ones scripts rely on`() {
    let expected: [String: UInt8] = [
      "ok": 0, "failure": 1, "usage": 2, "not-found": 3, "locked": 4, "wrong-passcode": 5,
      "cancelled": 6, "denied": 7, "throttled": 8, "needs-interaction": 9, "ambiguous": 10,
      "exists": 11, "integrity": 12, "no-vault": 13, "busy": 14, "agent": 15,
      "input-output": 16, "run-failed": 125, "not-executable": 126, "command-not-found": 127,
      "interrupted": 130,
    ]
    let statuses = ExitStatus.allCases.map { ($0.name, $0.rawValue) }
    #expect(Dictionary(uniqueKeysWithValues: statuses) == expected)
  }

  @Test func `each has a line of its own`() {
    #expect(Set(ExitStatus.allCases.map(\.summary)).count == ExitStatus.allCases.count)
  }

  @Test func `what people are told of rules and reasons is never empty`() {
    #expect(NameRule.allCases.allSatisfy { !$0.text.isEmpty })
    #expect(AttributeRule.allCases.allSatisfy { !$0.text.isEmpty })
    #expect(PasscodeRule.allCases.allSatisfy { !$0.text.isEmpty })
    #expect(LockReason.allCases.allSatisfy { !$0.text.isEmpty })
    #expect(FindingKind.allCases.allSatisfy { !$0.text.isEmpty })
  }
}
