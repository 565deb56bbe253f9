// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What the agent wrote is what a client reads.
struct ReplyTests {
  private func agentPayload(
    _ write: (inout SecretBuffer) throws -> Void
  ) throws -> [UInt8] {
    try payload(written(write), sentBy: .agent)
  }

  @Test(arguments: Failure.allCases)
  func `a refusal keeps its code, details and text`(_ failure: Failure) throws {
    let payload = try agentPayload {
      try $0.putRefusal(failure, detail: 1, detail2: .max, detail3: 3, text: "/a/b")
    }
    guard case .refused(let refusal) = try Reply(payload.span) else {
      return #expect(Bool(false))
    }
    #expect(refusal.failure == failure)
    #expect(refusal.detail == 1)
    #expect(refusal.detail2 == .max)
    #expect(refusal.detail3 == 3)
    #expect(Array(payload[refusal.text]) == bytes("/a/b"))
    #expect(failure.exitStatus != .ok)
  }

  @Test func `an unknown code counts as a fault`() throws {
    var payload = try agentPayload { try $0.putRefusal(.busy) }
    payload[0] = 0xEE
    payload[1] = 0xEE
    guard case .refused(let refusal) = try Reply(payload.span) else {
      return #expect(Bool(false))
    }
    #expect(refusal.failure == .fault)
    #expect(refusal.code == 0xEEEE)
  }

  @Test func `a refusal's text is cut where a message would be too long`() throws {
    let text = [UInt8](repeating: 0x61, count: 100_000)
    let payload = try agentPayload { try $0.putRefusal(.notFound, text: text.span) }
    guard case .refused(let refusal) = try Reply(payload.span) else {
      return #expect(Bool(false))
    }
    #expect(refusal.text.count == ProtocolLimit.path)
  }

  @Test func `a value in a reply`() throws {
    let value = (0...255).map { UInt8($0) }
    let payload = try agentPayload {
      try $0.putGetReply(name: "a/b".utf8.span, facts: Examples.facts, value: value.span)
    }
    let reply = try GetReply(payload.span)
    #expect(reply.entry.facts == Examples.facts)
    #expect(Array(payload[reply.entry.name]) == bytes("a/b"))
    guard case .inline(let field) = reply.source else { return #expect(Bool(false)) }
    #expect(Array(payload[field]) == value)
  }

  @Test func `entries in a batch`() throws {
    let payload = try agentPayload { buffer in
      let batch = try buffer.openBatch()
      for name in ["a", "b", "c"] {
        let count = try buffer.openEntry(name: name.utf8.span, facts: Examples.facts)
        try buffer.putPair(key: name.utf8.span, value: "v".utf8.span)
        try buffer.closeCount(count, 1)
      }
      try buffer.closeBatch(batch, count: 3)
    }
    let batch = try EntryBatch(payload.span)
    #expect(batch.count == 3)
    var names: [[UInt8]] = []
    batch.forEach(in: payload.span) { entry in
      names.append(Array(payload[entry.name]))
      entry.attributes.forEach(in: payload.span) { key, _ in names.append(array(key)) }
    }
    #expect(names == ["a", "a", "b", "b", "c", "c"].map(bytes))
    var reader = try EntryReader(payload.span)
    var same: [[UInt8]] = []
    while let entry = try reader.next() { same.append(Array(payload[entry.name])) }
    #expect(same == ["a", "b", "c"].map(bytes))
  }

  @Test func `entries in a batch that is cut short or goes on are refused when they are come to`()
    throws
  {
    let payload = try agentPayload { buffer in
      let batch = try buffer.openBatch()
      let count = try buffer.openEntry(name: "a".utf8.span, facts: Examples.facts)
      try buffer.closeCount(count, 0)
      try buffer.closeBatch(batch, count: 1)
    }
    for (other, error) in [
      (Array(payload.dropLast()), ProtocolError.truncated), (payload + [0], .trailingBytes(1)),
    ] {
      #expect(throws: error) {
        var reader = try EntryReader(other.span)
        while try reader.next() != nil {}
      }
    }
  }

  @Test func `findings in a batch`() throws {
    let payload = try agentPayload { buffer in
      let batch = try buffer.openBatch()
      for finding in FindingKind.allCases { try buffer.putFinding(finding, at: "x".utf8.span) }
      try buffer.closeBatch(batch, count: FindingKind.allCases.count)
    }
    var findings: [FindingKind] = []
    try FindingBatch(payload.span).forEach(in: payload.span) { finding, _ in
      findings.append(finding)
    }
    #expect(findings == FindingKind.allCases)
  }

  @Test func `a status`() throws {
    let unlocked = try agentPayload { try $0.putStatusReply(Examples.status) }
    #expect(try StatusReport(unlocked.span) == Examples.status)
    for reason in LockReason.allCases {
      let report = StatusReport(state: .locked, lockReason: reason)
      let locked = try agentPayload { try $0.putStatusReply(report) }
      #expect(try StatusReport(locked.span) == report)
    }
  }

  @Test func `kept revisions`() throws {
    let payload = try agentPayload { buffer in
      let frame = try buffer.openReply()
      try buffer.putEntry(name: "a".utf8.span, facts: Examples.facts)
      try buffer.closeShowReply(frame, revisions: ([1, .max] as [UInt64]).span)
    }
    let reply = try ShowReply(payload.span)
    #expect(reply.revisionCount == 2)
    #expect(reply.revisionNumbers(in: payload.span) == [1, .max])
  }

  @Test func `settings`() throws {
    let settings = Setting.allCases.map { SettingValue(key: $0.rawValue, value: $0.standard) }
    let payload = try agentPayload { try $0.putConfigReply(settings) }
    #expect(try SettingValue.all(payload.span) == settings)
  }

  @Test func `an agent's report`() throws {
    let payload = try agentPayload {
      try $0.putAgentReply(
        processID: 7, release: "1.2.3", sessionCount: 70_000, lockedBytes: 1, unlockedBytes: 2)
    }
    let report = try AgentReport(payload.span)
    #expect(report.processID == 7)
    #expect(report.sessionCount == .max)
    #expect(report.lockedBytes == 1)
    #expect(report.unlockedBytes == 2)
    #expect(Array(payload[report.release]) == bytes("1.2.3"))
  }

  @Test func `one field`() throws {
    let notices: Notice = [.firstSeen, .triesNotKept]
    let unlock = try agentPayload { try $0.putUnlockReply(notices) }
    #expect(try FieldReply.notices(unlock.span) == notices)
    let attributes = try agentPayload { try $0.putRevisionReply(9) }
    #expect(try FieldReply.revision(attributes.span) == 9)
    let progress = try agentPayload { try $0.putProgress(done: 1, total: 2) }
    #expect(try ProgressReport(progress.span).done == 1)
    #expect(try ProgressReport(progress.span).total == 2)
    let put = try agentPayload { try $0.putPutReply(revision: 2, replaced: 1) }
    #expect(try PutReply(put.span).revision == 2)
    #expect(try PutReply(put.span).replaced == 1)
  }
}
