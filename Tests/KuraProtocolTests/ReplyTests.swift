// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import TestGround
import Testing

/// What the agent wrote is what a client reads.
struct ReplyTests {
  private func agentPayload(
    _ write: (inout SecretBuffer) throws -> Void
  ) throws -> [UInt8] {
    try payload(written(write), sentBy: .agent)
  }

  @Test(arguments: Failure.allCases)
  func `a refusal keeps its code and its facts`(_ failure: Failure) throws {
    for text in ["/a/b", ""] {
      let refusal = Refusal.sample(failure, naming: text)
      #expect(refusal.failure == failure)
      let payload = try agentPayload { try $0.putRefusal(refusal) }
      #expect(try Reply(payload.span) == .refused(refusal))
      #expect(Array(payload.prefix(2)) == [UInt8(failure.rawValue), 0])
      #expect(throws: ProtocolError.trailingBytes(1)) { try Reply((payload + [0]).span) }
      #expect(Refusal.unknown(code: failure.rawValue).failure == failure)
    }
    #expect(failure.exitStatus != .ok)
  }

  @Test(arguments: [
    Refusal.recoveryKeyTypo(.anywhere), .recoveryKeyTypo(.length(35)), .wrongKey(nil),
    .locked(LockNote()), .exchanged(last: .none), .notWhole(isHeld: false, .none),
    .throttled(wait: .max, hasRecoveryKey: false), .inputOutput(errno: -1, .none),
  ])
  func `a refusal keeps what is not known, too`(_ refusal: Refusal) throws {
    let payload = try agentPayload { try $0.putRefusal(refusal, as: .end) }
    #expect(try Reply(payload.span) == .refused(refusal))
  }

  @Test func `each flag of a wrong passcode is kept`() throws {
    for flags in 0..<8 {
      var wrong = WrongPasscode()
      wrong.hasRecoveryKey = flags & 1 != 0
      wrong.isUntakenCode = flags & 2 != 0
      wrong.isCode = flags & 4 != 0
      let payload = try agentPayload { try $0.putRefusal(.wrongPasscode(wrong)) }
      #expect(payload.last == UInt8(flags))
      #expect(try Reply(payload.span) == .refused(.wrongPasscode(wrong)))
    }
  }

  @Test func `a fact that is not known leaves the code`() throws {
    let refusals: [Refusal] = [
      .nameInvalid(.empty), .noSuchSlot(.passcode), .settingInvalid(.logSync),
    ]
    for refusal in refusals {
      var payload = try agentPayload { try $0.putRefusal(refusal) }
      payload[2] = 0xEE
      #expect(try Reply(payload.span) == .refused(.unknown(code: refusal.failure.rawValue)))
      let short = Array(payload.prefix(2))
      #expect(throws: ProtocolError.truncated) { try Reply(short.span) }
    }
  }

  @Test func `an unknown code is told as it came, whatever stands behind it`() throws {
    var payload = try agentPayload { try $0.putRefusal(.notFound(.text("a"))) }
    payload[0] = 0xEE
    payload[1] = 0xEE
    #expect(try Reply(payload.span) == .refused(.unknown(code: 0xEEEE)))
    #expect(Refusal.unknown(code: 0xEEEE).failure == .fault)
  }

  @Test func `a refusal names a part of the request`() throws {
    let request = bytes("..item..")
    let refusal = Refusal.notFound(.field(2..<6))
    let payload = try agentPayload { try $0.putRefusal(refusal, of: request.span) }
    #expect(try Reply(payload.span) == .refused(.notFound(.text("item"))))
    let late = try agentPayload { try $0.putRefusal(refusal) }
    #expect(try Reply(late.span) == .refused(.notFound(.none)))
  }

  @Test func `a refusal's text is cut where a message would be too long`() throws {
    let text = String(repeating: "a", count: 100_000)
    let payload = try agentPayload { try $0.putRefusal(.notFound(.text(text))) }
    let cut = String(repeating: "a", count: ProtocolLimit.path)
    #expect(try Reply(payload.span) == .refused(.notFound(.text(cut))))
  }

  @Test func `a value in a reply`() throws {
    let value = (0...255).map { UInt8($0) }
    let payload = try agentPayload {
      try $0.putGetReply(name: "a/b".utf8.span, facts: Examples.facts, value: value.span)
    }
    let reply = try GetReply(reply: payload.span)
    #expect(reply.entry.facts == Examples.facts)
    #expect(array(reply.entry.name.bytes) == bytes("a/b"))
    #expect(reply.isStream == false)
    #expect(array(reply.value.bytes) == value)
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
    batch.forEach { entry in
      names.append(array(entry.name.bytes))
      entry.attributes.forEach { key, _ in names.append(array(key)) }
    }
    #expect(names == ["a", "a", "b", "b", "c", "c"].map(bytes))
    var reader = try EntryReader(payload.span)
    var same: [[UInt8]] = []
    while let entry = try reader.next() { same.append(array(entry.name.bytes)) }
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
    let reply = try ShowReply(reply: payload.span)
    #expect(reply.revisionCount == 2)
    #expect(reply.revisionNumbers == [1, .max])
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
    let unlock = try agentPayload { try $0.putReply(UnlockReply(notices)) }
    #expect(try UnlockReply(reply: unlock.span).notices == notices)
    let attributes = try agentPayload { try $0.putReply(RevisionReply(9)) }
    #expect(try RevisionReply(reply: attributes.span).revision == 9)
    let progress = try agentPayload { try $0.putProgress(done: 1, total: 2) }
    #expect(try ProgressReport(progress.span).done == 1)
    #expect(try ProgressReport(progress.span).total == 2)
    let put = try agentPayload { try $0.putReply(PutReply(revision: 2, replaced: 1)) }
    #expect(try PutReply(reply: put.span).revision == 2)
    #expect(try PutReply(reply: put.span).replaced == 1)
  }
}
