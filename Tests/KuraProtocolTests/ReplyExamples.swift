// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory

extension Examples {
  /// What the owner is asked for.
  static var wish: [UInt8] {
    get throws {
      let names = try keys("a/b")
      var askers = try SecretBuffer(capacity: 64)
      try WishAskers.put(
        chain: "kura 4250 < make 4242".utf8.span, reason: "tests".utf8.span, into: &askers)
      var entry = WishEntry(
        KeyFields(names.bytes, count: 1), program: "make".utf8.span,
        askers: WishAskers(askers.bytes, count: 1))
      (entry.number, entry.process, entry.started) = (7, 4_242, 1_700_000_000_000)
      entry.mayLast = true
      return try written { try entry.code(&$0) }
    }
  }

  static func reply(
    _ label: String, _ write: (inout SecretBuffer) throws -> Void,
    reading read: @escaping @Sendable (Span<UInt8>) throws(ProtocolError) -> Void
  ) throws -> Example {
    Example(label: label, side: .agent, bytes: try written(write), read: read)
  }

  static var replies: [Example] {
    get throws { try answers + itemReplies + vaultReplies + streams + syncReplies }
  }

  private static var answers: [Example] {
    get throws {
      try [
        reply("hello reply") {
          try $0.putHelloReply(release: "0.1.0")
        } reading: { payload throws(ProtocolError) in
          _ = payload.extracting(try HelloReply(payload).release)
        },
        reply("reply: done") {
          try $0.putReply()
        } reading: { payload throws(ProtocolError) in
          _ = try DoneReply(reply: payload)
        },
        reply("reply: refused") {
          try $0.putRefusal(
            .locked(LockNote(.idle, since: 1_700_000_000_000, idleTimeout: 900_000)))
        } reading: { payload throws(ProtocolError) in
          _ = try Reply(payload)
        },
        reply("reply to create and passcode") {
          try $0.putReply(RecoveryKeyReply(key.utf8.span))
        } reading: { payload throws(ProtocolError) in
          _ = try RecoveryKeyReply(reply: payload)
        },
        reply("reply to unlock") {
          try $0.putReply(UnlockReply([.firstSeen, .memoryNotLocked]))
        } reading: { payload throws(ProtocolError) in
          _ = try UnlockReply(reply: payload)
        },
      ]
    }
  }

  private static var itemReplies: [Example] {
    get throws {
      try [
        reply("reply to get") {
          try $0.putGetReply(name: "a/b".utf8.span, facts: facts, value: "hello".utf8.span)
        } reading: { payload throws(ProtocolError) in
          _ = try GetReply(reply: payload)
        },
        reply("reply to get, streamed") {
          try $0.putGetReply(name: "a/b".utf8.span, facts: facts, value: nil)
        } reading: { payload throws(ProtocolError) in
          _ = try GetReply(reply: payload)
        },
        reply("reply to get-attribute") {
          try $0.putReply(AttributeReply("x.org".utf8.span))
        } reading: { payload throws(ProtocolError) in
          _ = try AttributeReply(reply: payload)
        },
        reply("reply to put") {
          try $0.putReply(PutReply(revision: 4, replaced: 3))
        } reading: { payload throws(ProtocolError) in
          _ = try PutReply(reply: payload)
        },
        reply("reply to set-secret") {
          try $0.putReply(SetSecretReply(2, copy: "/m/a.kura.format-1".utf8.span))
        } reading: { payload throws(ProtocolError) in
          _ = try SetSecretReply(reply: payload)
        },
        reply("reply to secrets") {
          let list: [UInt8] = [3, 0, 0x70, 0x69, 0x6E, 4, 0, 0, 0]
          try $0.putReply(SecretsReply(list.span, count: 1))
        } reading: { payload throws(ProtocolError) in
          try SecretsReply(reply: payload).forEach { _, _ in }
        },
        reply("reply to get-secrets") {
          var pairs = try SecretBuffer(capacity: 64)
          try pairs.putPair(key: "pin".utf8.span, value: "0815".utf8.span)
          try $0.putReply(GetSecretsReply(AttributeFields(pairs.bytes, count: 1)))
        } reading: { payload throws(ProtocolError) in
          try GetSecretsReply(reply: payload).attributes.forEach { _, _ in }
        },
        reply("reply to grant") {
          try $0.putReply(GrantReply([], number: 7, granted: 2))
        } reading: { payload throws(ProtocolError) in
          _ = try GrantReply(reply: payload)
        },
        reply("reply to grants") {
          let names = try keys("a/b")
          var entry = GrantEntry(
            KeyFields(names.bytes, count: 1), program: "make".utf8.span, reason: "tests".utf8.span)
          (entry.number, entry.process, entry.left, entry.uses) = (7, 4_242, 900_000, 3)
          var list = try SecretBuffer(capacity: 64)
          try entry.code(&list)
          try $0.putReply(GrantsReply(list.bytes, count: 1))
        } reading: { payload throws(ProtocolError) in
          try GrantsReply(reply: payload).forEach { $0.names.forEach { _ in } }
        },
        reply("reply to grant-revoke") {
          try $0.putReply(GrantRevokeReply(2))
        } reading: { payload throws(ProtocolError) in
          _ = try GrantRevokeReply(reply: payload)
        },
        reply("reply to wishes") {
          let wish = try wish
          var list = try SecretBuffer(capacity: 64)
          try list.put32(wish.span)
          try $0.putReply(WishesReply(list.bytes, count: 1, untold: 2, state: 4))
        } reading: { payload throws(ProtocolError) in
          try WishesReply(reply: payload).forEach { entry, _ in entry.names.forEach { _ in } }
        },
        reply("reply to take-over") {
          try $0.putReply(TakeOverReply(copy: Span()))
        } reading: { payload throws(ProtocolError) in
          _ = try TakeOverReply(reply: payload)
        },
        reply("reply to attributes") {
          try $0.putReply(RevisionReply(4))
        } reading: { payload throws(ProtocolError) in
          _ = try RevisionReply(reply: payload)
        },
        reply("reply to show") { buffer in
          let frame = try buffer.openReply()
          try entry(&buffer)
          try buffer.closeShowReply(frame, revisions: ([1, 2] as [UInt64]).span)
        } reading: { payload throws(ProtocolError) in
          _ = try ShowReply(reply: payload).revisionNumbers
        },
      ]
    }
  }

  private static var vaultReplies: [Example] {
    get throws {
      try [
        reply("reply to status") {
          try $0.putStatusReply(status)
        } reading: { payload throws(ProtocolError) in
          _ = try StatusReport(payload)
        },
        reply("reply to agent-status") {
          try $0.putAgentReply(
            processID: 4_242, release: "0.1.0", sessionCount: 1, lockedBytes: 65_536,
            unlockedBytes: 0)
        } reading: { payload throws(ProtocolError) in
          _ = payload.extracting(try AgentReport(payload).release)
        },
        reply("reply to agent-facts") {
          var facts = AgentFacts()
          (facts.lockLimit, facts.hardLockLimit) = (8_388_608, AgentFacts.unlimited)
          (facts.lockedBytes, facts.availableMemory) = (65_536, 1 << 30)
          (facts.bootTime, facts.monotonicTime, facts.keepsState) = (60_000, 30_000, true)
          facts.isConfined = true
          try $0.putAgentFactsReply(facts)
        } reading: { payload throws(ProtocolError) in
          _ = try AgentFacts(payload)
        },
        reply("reply to config") {
          try $0.putConfigReply([SettingValue(key: Setting.idleTimeout.rawValue, value: 60_000)])
        } reading: { payload throws(ProtocolError) in
          _ = try SettingValue.all(payload)
        },
        reply("reply to slots") { buffer in
          let list = try buffer.openSlotList(isAuthentic: true)
          try buffer.putSlot(keyFileSlot, label: "usb".utf8.span, place: "/m/key".utf8.span)
          try buffer.closeSlotList(list, count: 1)
        } reading: { payload throws(ProtocolError) in
          for slot in try SlotList(payload).slots {
            _ = (payload.extracting(slot.label), payload.extracting(slot.place))
          }
        },
        reply("reply to slot-add and slot-test") {
          try $0.putReply(SlotReply(number: 2, kind: .keyFile))
        } reading: { payload throws(ProtocolError) in
          _ = try SlotReply(reply: payload)
        },
        reply("reply to otp") {
          try $0.putReply(
            OTPReply(.time, .sha1, period: 30, left: 17_000, counter: 0, code: "755224".utf8.span))
        } reading: { payload throws(ProtocolError) in
          _ = try OTPReply(reply: payload)
        },
        reply("reply to draft-key") {
          let key = [UInt8](repeating: 5, count: 32)
          let sealed = [UInt8](repeating: 7, count: 104)
          try $0.putReply(DraftKeyReply(key: key.span, sealed: sealed.span))
        } reading: { payload throws(ProtocolError) in
          _ = try DraftKeyReply(reply: payload)
        },
      ]
    }
  }

  private static var keyFileSlot: SlotFacts {
    SlotFacts(
      number: 2, kind: .keyFile, flags: [.enabled, .tried], availability: .here,
      cost: KDFParameters(memory: 0, passes: 0), created: 1_700_000_000_000, size: 64)
  }

  private static var streams: [Example] {
    get throws {
      try [
        reply("data, from the agent") {
          try $0.putData("hello".utf8.span, from: .agent)
        } reading: { _ throws(ProtocolError) in
        },
        reply("data: entries") { buffer in
          let batch = try buffer.openBatch()
          try entry(&buffer)
          try buffer.closeBatch(batch, count: 1)
        } reading: { payload throws(ProtocolError) in
          try EntryBatch(payload).forEach { entry in entry.attributes.forEach { _, _ in } }
        },
        reply("data: whose turn it is to ask") {
          try $0.putPromptNews(elsewhere: "pts/3".utf8.span)
        } reading: { payload throws(ProtocolError) in
          if case .elsewhere(let place) = try PromptNews(payload) {
            _ = payload.extracting(place)
          }
        },
        reply("data: a value to be masked") {
          try $0.putNeedle(
            Needle(
              7, .attribute, name: "a/b".utf8.span, key: "pin".utf8.span, size: 6,
              value: "271828".utf8.span))
        } reading: { payload throws(ProtocolError) in
          let needle = try Needle(payload)
          guard needle.value.bytes.count == 6, needle.part == .attribute else { throw .fieldValue }
        },
        reply("data: of the access log") {
          let batch = try $0.openBatch()
          try $0.putLogDropped(7)
          var facts = LogFacts(time: 1_700_000_000_000, verb: 5)
          (facts.process, facts.parent) = (4_242, 4_200)
          facts.program = Array("kura".utf8)
          facts.parentProgram = Array("/bin/sh".utf8)
          facts.terminal = Array("pts/3".utf8)
          try $0.putLogEntry(
            facts, number: 8, wasLocked: false, name: "a/b".utf8.span, other: Span())
          try $0.putLogFinding(.cut, number: 9, count: 0)
          try $0.closeBatch(batch, count: 3)
        } reading: { payload throws(ProtocolError) in
          _ = try LogBatch(payload)
        },
        reply("data: what came of a merge") {
          var reply = MergeReply(copy: Span())
          (reply.added, reply.changed, reply.conflicting) = (2, 1, 1)
          try $0.putMerge(reply)
        } reading: { payload throws(ProtocolError) in
          _ = try MergeReply(data: payload)
        },
        reply("data: conflicts") { buffer in
          let batch = try buffer.openBatch()
          try buffer.putConflict(.value, revision: 3, name: "a".utf8.span, text: Span())
          try buffer.closeBatch(batch, count: 1)
        } reading: { payload throws(ProtocolError) in
          try ConflictBatch(payload).forEach(in: payload) { conflict in
            _ = (payload.extracting(conflict.name), payload.extracting(conflict.text))
          }
        },
        reply("data: findings") { buffer in
          let batch = try buffer.openBatch()
          try buffer.putFinding(.item, at: "a/b".utf8.span)
          try buffer.closeBatch(batch, count: 1)
        } reading: { payload throws(ProtocolError) in
          try FindingBatch(payload).forEach(in: payload) { _, _ in }
        },
        reply("progress") {
          try $0.putProgress(done: 5, total: 20)
        } reading: { payload throws(ProtocolError) in
          _ = try ProgressReport(payload)
        },
        reply("end") {
          try $0.putEnd()
        } reading: { payload throws(ProtocolError) in
          _ = try DoneReply(reply: payload)
        },
        reply("end: refused") {
          try $0.putRefusal(.damaged(.text("a/b")), as: .end)
        } reading: { payload throws(ProtocolError) in
          _ = try Reply(payload)
        },
      ]
    }
  }

  static var status: StatusReport {
    var status = StatusReport(state: .unlocked)
    status.since = 1_700_000_000_000
    status.idleLeft = 2_500
    status.sessionLeft = 28_000_000
    status.idleTimeout = 3_000
    status.maxSession = 28_800_000
    status.epoch = 7
    status.fingerprint = (0..<32).map { UInt8($0) }
    status.itemCount = 2
    status.weaknesses = .memoryNotLocked
    status.bootTime = 123_456
    status.tries = [
      TryReport(kind: .passcode, failures: 6, left: 0, wait: 12_000),
      TryReport(kind: .keyFile, failures: 5, left: 0, wait: TryReport.untilPasscode),
    ]
    status.rotation = 400
    (status.backupTime, status.backupPath) = (1_700_000_000_000, bytes("/m/a.kura"))
    status.vault = [UInt8](repeating: 0xAB, count: 16)
    status.format = 2
    return status
  }

  private static func entry(_ buffer: inout SecretBuffer) throws {
    let attributes = try buffer.openEntry(name: "a/b".utf8.span, facts: facts)
    try buffer.putPair(key: "url".utf8.span, value: "x.org".utf8.span)
    try buffer.closeCount(attributes, 1)
  }
}
