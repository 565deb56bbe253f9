// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraClient

struct ConnectionVaultTests {
  private static let key = "0123-4567"

  @Test func `a vault is created when the key was written down`() throws {
    let request = try conversation { agent in
      let request = try agent.greet()
      try agent.say { try $0.putReply(RecoveryKeyReply(Self.key.utf8.span)) }
      _ = try agent.next(.confirm)
      try agent.say { try $0.putReply() }
      return request
    } client: { connection in
      var shown = ""
      try connection.create(passcode: secret("pass"), flags: .recoveryKey) { key in
        shown = String(repairing: key)
        return true
      }
      #expect(shown == Self.key)
    }
    guard case .create(let create) = try Request(request.span) else { return #expect(Bool(false)) }
    #expect(array(create.passcode.bytes) == Array("pass".utf8))
    #expect(create.flags == .recoveryKey)
    #expect(create.cost == .calibrated)
  }

  @Test func `no confirm is sent when the key was not written down`() throws {
    let next = try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply(RecoveryKeyReply("".utf8.span)) }
      return try? agent.read()
    } client: { connection in
      let error = failure {
        try connection.create(passcode: secret("pass"), flags: []) { _ in false }
      }
      #expect(error == .stopped)
      #expect(error?.exitStatus == .cancelled)
    }
    #expect(next == nil)
  }

  @Test func `a new recovery key is shown when one was asked for`() throws {
    for flags in [PasscodeRequest.Flags.recoveryKey, []] {
      try conversation { agent in
        try agent.greet()
        try agent.say {
          try $0.putReply(RecoveryKeyReply((flags == [] ? "" : Self.key).utf8.span))
        }
        if flags != [] { try agent.say { try $0.putReply() } }
      } client: { connection in
        var shown: [String] = []
        try connection.changePasscode(
          .recoveryKey, current: secret("old"), new: secret("new"), flags: flags
        ) {
          shown.append(String(repairing: $0))
          return true
        }
        #expect(shown == (flags == [] ? [] : [Self.key]))
      }
    }
  }

  @Test func `a check tells how far it is and what it finds`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say { buffer in
        try buffer.putProgress(done: 1, total: 2)
        let batch = try buffer.openBatch()
        try buffer.putFinding(.item, at: "a/b".utf8.span)
        try buffer.putFinding(.count, at: "root".utf8.span)
        try buffer.closeBatch(batch, count: 2)
        try buffer.putProgress(done: 2, total: 2)
        try buffer.putEnd()
      }
    } client: { connection in
      var done: [UInt64] = []
      var found: [String] = []
      let count = try connection.verify {
        done.append($0.done)
      } finding: {
        found.append("\($0.rawValue) \($1)")
      }
      #expect(count == 2)
      #expect(done == [1, 2])
      #expect(found == ["1 a/b", "10 root"])
    }
  }

  @Test func `settings`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say {
        try $0.putConfigReply([
          SettingValue(key: 1, value: 60_000), SettingValue(key: 200, value: 1),
        ])
      }
      for _ in 0..<2 {
        _ = try agent.next(.request)
        try agent.say { try $0.putConfigReply([SettingValue(key: 1, value: 60_000)]) }
      }
      _ = try agent.next(.request)
      try agent.say { try $0.putConfigReply([]) }
    } client: { connection in
      let settings = try connection.settings()
      #expect(settings.map(\.key) == [1, 200])
      let value = try connection.setting(.idleTimeout)
      #expect(value == 60_000)
      try connection.set(.idleTimeout, to: 60_000)
      #expect(failure { _ = try connection.setting(.maxSession) } == .broken(.fieldValue))
    }
  }

  @Test func `status, unlock, lock, wait and the agent itself`() throws {
    var report = StatusReport(state: .locked, lockReason: .idle)
    report.since = 5
    let told = report
    let verbs = try conversation { agent in
      var verbs = [try agent.greet()[0]]
      try agent.say { try $0.putStatusReply(told) }
      verbs.append(try agent.next(.request)[0])
      try agent.say { try $0.putReply(UnlockReply(.firstSeen)) }
      for _ in 0..<2 {
        verbs.append(try agent.next(.request)[0])
        try agent.say { try $0.putReply() }
      }
      verbs.append(try agent.next(.request)[0])
      try agent.say {
        try $0.putAgentReply(
          processID: 9, release: "1.0", sessionCount: 2, lockedBytes: 3, unlockedBytes: 4)
      }
      verbs.append(try agent.next(.request)[0])
      try agent.say { try $0.putReply() }
      return verbs
    } client: { connection in
      let status = try connection.status()
      #expect(status == told)
      let notices = try connection.unlock(.passcode, secret: secret("x"), idleTimeout: 3_000)
      #expect(notices == .firstSeen)
      try connection.lock(scope: .all)
      try connection.wait(milliseconds: 1)
      let summary = try connection.agentStatus()
      #expect(summary.release == "1.0")
      #expect(summary.processID == 9)
      try connection.stopAgent()
    }
    let expected: [Verb] = [.status, .unlock, .lock, .wait, .agentStatus, .agentStop]
    #expect(verbs == expected.map(\.rawValue))
  }

  @Test func `waiting may take longer than an answer`() throws {
    let isGreeted = DispatchSemaphore(value: 0)
    try conversation(patience: Patience(answer: 100)) { agent in
      do {
        defer { isGreeted.signal() }
        try agent.say { try $0.putHelloReply(release: "9.8.7") }
      }
      _ = try agent.next(.clientHello)
      _ = try agent.next(.request)
      Thread.sleep(forTimeInterval: 0.3)
      try agent.say { try $0.putReply() }
    } client: {
      isGreeted.wait()
      try $0.wait(milliseconds: 30_000)
    }
  }
}
