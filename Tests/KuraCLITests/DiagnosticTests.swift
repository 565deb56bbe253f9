// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import TestGround
import Testing

@testable import KuraCLI
@testable import KuraClient

private func diagnostic(_ refusal: Refusal) -> Diagnostic {
  Diagnostic(.client(.refused(refusal)))
}

/// What holds of each text that a person reads.
private func expectGood(_ diagnostic: Diagnostic, _ what: String) {
  let message = diagnostic.message
  #expect(!message.isEmpty, "\(what)")
  #expect(message.first?.isUppercase != true, "\(what): \(message)")
  #expect(message.last != "." && message.last != ":", "\(what): \(message)")
  #expect(!message.contains("  ") && !message.contains("\n"), "\(what): \(message)")
  if let hint = diagnostic.hint {
    #expect(!hint.isEmpty && hint.last != "." && !hint.contains("\n"), "\(what): \(hint)")
  }
  #expect(diagnostic.status != .ok, "\(what)")
}

@Suite struct RefusalDiagnosticTests {
  @Test(arguments: Failure.allCases)
  func `each refusal has a message and its status`(_ failure: Failure) {
    for text in ["", "some text"] {
      let shown = diagnostic(.sample(failure, naming: text))
      expectGood(shown, "\(failure)")
      #expect(shown.status == failure.exitStatus)
    }
  }

  @Test(arguments: Failure.allCases)
  func `no refusal puts control bytes on the terminal`(_ failure: Failure) {
    let shown = diagnostic(.sample(failure, naming: "a\u{1B}[31m\u{9B}\n\u{202E}"))
    let all = shown.message + (shown.hint ?? "")
    #expect(
      all.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{9B}" && $0 != "\u{202E}" })
  }

  @Test func `no two refusals read the same`() {
    var seen: [String: Failure] = [:]
    // Who waits in vain need not know for what.
    for failure in Failure.allCases where failure != .tooBusy {
      let shown = diagnostic(.sample(failure, naming: "x"))
      #expect(seen[shown.message] == nil, "\(failure) and \(seen[shown.message] ?? failure)")
      seen[shown.message] = failure
    }
  }

  @Test func `who finds the file being made short is told so`() {
    #expect(diagnostic(.compacting).message == "the vault's file is being made shorter")
    #expect(diagnostic(.busy).message == "the agent or the vault is busy")
  }

  @Test func `a code of a newer agent is told by its number`() {
    let shown = diagnostic(.unknown(code: 999))
    expectGood(shown, "unknown")
    #expect(shown.message.hasSuffix("(code 999)") && shown.status == .failure)
  }

  @Test(arguments: NameRule.allCases)
  func `each rule for names is told`(_ rule: NameRule) throws {
    let shown = diagnostic(.nameInvalid(rule))
    #expect(shown.message.contains(rule.text))
    #expect(shown.status == .usage)
  }

  @Test(arguments: AttributeRule.allCases)
  func `each rule for attributes is told`(_ rule: AttributeRule) throws {
    #expect(
      diagnostic(.attributeInvalid(rule)).message.contains(rule.text))
  }

  @Test(arguments: PasscodeRule.allCases)
  func `each rule for passcodes is told`(_ rule: PasscodeRule) throws {
    #expect(
      diagnostic(.passcodeInvalid(rule)).message.contains(rule.text))
  }

  @Test func `a locked vault says why`() throws {
    let shown = diagnostic(.locked(LockNote(.idle, idleTimeout: 900_000)))
    #expect(shown.message == "the vault is locked (idle 15 min)")
    #expect(shown.hint == "run 'kura unlock'")
    #expect(shown.status == .locked)
  }

  @Test func `a wait is rounded up`() throws {
    #expect(diagnostic(.throttled(wait: 4_001, hasRecoveryKey: false)).message.hasSuffix("in 5 s"))
    #expect(
      diagnostic(.throttled(wait: 60_000, hasRecoveryKey: false)).message.hasSuffix("in 1 min"))
  }

  @Test func `a cost is told as far as it is known`() throws {
    let rows: [(UInt64, UInt32, String)] = [
      (9_000, 0, "8.7 KiB"), (0, 17, "17 passes"), (1 << 20, 1, "1.0 MiB and 1 pass"),
    ]
    for (memory, passes, words) in rows {
      let refusal = Refusal.kdfTooCostly(KDFParameters(memory: memory, passes: passes))
      #expect(diagnostic(refusal).message.contains("cost " + words + ","))
      let atCreation = Diagnostic(.creating(.refused(refusal)))
      #expect(atCreation.message.hasSuffix(": " + words))
      #expect(atCreation.hint?.contains("another credential") == false)
      #expect(atCreation.status == Failure.kdfTooCostly.exitStatus)
      expectGood(atCreation, words)
    }
  }

  @Test func `a wrong key file is not called a recovery key`() throws {
    #expect(diagnostic(.wrongKey(.keyFile)).message.contains("key file"))
    #expect(diagnostic(.wrongKey(.recoveryKey)).message.contains("recovery key"))
    #expect(!diagnostic(.wrongKey(nil)).message.contains("key"))
  }

  @Test func `who showed a code where a passcode is needed is told so`() throws {
    var wrong = WrongPasscode()
    wrong.hasRecoveryKey = true
    #expect(diagnostic(.wrongPasscode(wrong)).hint?.contains("code changes") == false)
    (wrong.wait, wrong.isUntakenCode) = (5_000, true)
    let hint = diagnostic(.wrongPasscode(wrong)).hint
    #expect(hint?.hasPrefix("a code changes no slot: give the passcode or --recovery-key") == true)
    #expect(hint?.hasSuffix("in 5 s") == true)
    (wrong.wait, wrong.hasRecoveryKey) = (0, false)
    #expect(diagnostic(.wrongPasscode(wrong)).hint?.contains("--recovery") == false)
  }

  @Test func `no way to unlock is advised that the vault has not`() throws {
    #expect(diagnostic(.noSuchSlot(.recoveryKey)).hint == "unlock it with the passcode")
    #expect(diagnostic(.noSuchSlot(.passcode)).hint?.contains("--recovery-key") == true)
  }

  @Test func `a recovery key of another length is told its own`() throws {
    let message = diagnostic(.recoveryKeyTypo(.length(35))).message
    #expect(message == "it has 35 characters, a recovery key has 36")
  }

  @Test func `a typing error names its group`() throws {
    #expect(diagnostic(.recoveryKeyTypo(.group(2))).message.contains("group 2"))
    #expect(!diagnostic(.recoveryKeyTypo(.anywhere)).message.contains("group"))
  }

  @Test func `an older vault says where the newer one was`() throws {
    let shown = diagnostic(.sample(.rolledBack, naming: "/home/ada/default.kura"))
    #expect(shown.message.contains("older"))
    #expect(shown.message.contains("40") && shown.message.contains("12"))
    #expect(shown.message.contains("/home/ada/default.kura"))
    #expect(shown.hint?.contains("--accept-rollback") == true)
  }
}

@Suite struct DiagnosticTests {
  static let clientErrors: [ClientError] = [
    .noAgent, .agentMissing(directory: "/usr/bin"), .agentFailed(status: 1, text: ""),
    .agentUnsafe(directory: "/run/x"), .otherVersion(version: 2, release: "9.0.0"), .hungUp,
    .timedOut, .broken(.truncated), .output(28), .input(5), .tooLong(limit: 3), .stopped,
    .outOfMemory, .system(2), .path(.homeUnknown), .path(.empty), .path(.tooLong(limit: 9)),
    .path(.nameInvalid("a/b")), .path(.noWorkingDirectory(2)),
    .agentUnreachable(directory: "/run/x", errno: 13),
    .programUnstartable(path: "/usr/bin/kura-agent", errno: 13),
  ]

  @Test(arguments: clientErrors)
  func `each failure of the client has a message and its status`(_ error: ClientError) {
    let shown = Diagnostic(.client(error))
    expectGood(shown, "\(error)")
    #expect(shown.status == error.exitStatus)
  }

  static let others: [(CommandError, KuraProtocol.ExitStatus)] = [
    (.prompt(.cancelled), .cancelled), (.prompt(.closed), .cancelled),
    (.prompt(.failed), .inputOutput), (.prompt(.outOfMemory), .failure),
    (.askpass("/bin/ask"), .cancelled), (.program(.notStarted, "/p"), .failure),
    (.program(.ended, "/p"), .failure), (.program(.silent, "/p"), .failure),
    (.program(.notUnderstood, "/p"), .failure), (.program(.said("x"), "/p"), .failure),
    (.file(.read, path: "f", errno: 2), .inputOutput),
    (.file(.write, path: "f", errno: 28), .inputOutput), (.output(28), .inputOutput),
    (.outOfMemory, .failure), (.noVault("/v"), .noVault), (.exists(.vault, "/v"), .exists),
    (.exists(.file, "/f"), .exists), (.locked(LockFacts()), .locked),
    (.noInteraction(.passcode), .needsInteraction),
    (.noInteraction(.recoveryKey), .needsInteraction),
    (.noInteraction(.recoveryKeyShown), .needsInteraction),
    (.noInteraction(.value), .needsInteraction),
    (.noInteraction(.newPasscode), .needsInteraction),
    (.noInteraction(.newRecoveryKeyShown), .needsInteraction),
    (.noInteraction(.unlockAgain), .needsInteraction),
    (.notAVault("/v"), .integrity),
    (.noInteraction(.confirmation), .needsInteraction),
    (.noInteraction(.agreement), .needsInteraction), (.mismatch(.vaultName), .cancelled),
    (.noInteraction(.unlock), .locked), (.mismatch(.passcode), .cancelled),
    (.mismatch(.value), .cancelled), (.mismatch(.recoveryKey), .cancelled),
    (.mismatch(.unkeptRecoveryKey), .cancelled), (.findings(2), .integrity),
    (.agentNotRunning, .agent), (.lost(.unbegunRekey, .hungUp), .agent),
    (.lost(.rekey(.terminal), .hungUp), .agent), (.lost(.rekey(.nowhere), .timedOut), .busy),
    (.lost(.rotation, .hungUp), .agent), (.codeForPasscode, .denied), (.noPasscode, .denied),
  ]

  @Test(arguments: others)
  func `each other failure has a message and its status`(
    _ row: (CommandError, KuraProtocol.ExitStatus)
  ) {
    let shown = Diagnostic(row.0)
    expectGood(shown, "\(row.0)")
    #expect(shown.status == row.1)
  }

  @Test func `an agent that is stopped is let go on, and one that is not is not`() {
    let stopped = Diagnostic.silence(SilentAgent(processID: 7, isStopped: true))
    #expect(stopped.message == "the agent with process id 7 is stopped and does not answer")
    #expect(stopped.hint == "'kill -CONT 7' lets it go on")
    let silent = Diagnostic.silence(SilentAgent(processID: 7, isStopped: false))
    #expect(silent.hint?.contains("CONT") == false)
    #expect(Diagnostic.silence(nil).hint == "run 'kura agent stop', then try again")
  }

  @Test func `the hint for what is new names the options of what is new`() {
    let passcode = Diagnostic(.noInteraction(.newPasscode)).hint
    #expect(passcode?.contains("--new-passcode-file") == true)
    let key = Diagnostic(.noInteraction(.newRecoveryKeyShown)).hint
    #expect(key?.contains("--new-recovery-key-file") == true)
    #expect(key?.contains("--no-recovery-key") == false)
  }

  @Test func `an unlocked vault is not called locked`() {
    let shown = Diagnostic(.noInteraction(.unlockAgain))
    #expect(!shown.message.contains("locked:") && shown.message.contains("is unlocked"))
  }

  @Test func `that a passcode is cheap is told only after a passcode`() {
    let notices: Notice = [.weakSlot, .firstSeen]
    #expect(Notice.texts(notices, after: .passcode).count == 2)
    for kind in [Credential.recoveryKey, .keyFile, .local] {
      #expect(Notice.texts(notices, after: kind) == Notice.texts(.firstSeen, after: kind))
    }
  }

  @Test func `a note that noticed an older copy is not called damaged`() {
    let both: Notice = [.seenDamaged, .rollbackAccepted]
    let accepted = Notice.texts(.rollbackAccepted, after: .passcode)
    #expect(Notice.texts(both, after: .passcode) == accepted)
  }

  @Test func `a few digits are advised only what can be done with them`() {
    for remedy in [WeakPasscodeRemedy.initialCode, .initialCodeWithRecoveryKey, .another] {
      #expect(Diagnostic(.weakPasscode(remedy, lasts: "")).hint?.contains("slot add") == false)
    }
  }

  @Test func `who interrupts knows it already`() {
    #expect(Diagnostic(.prompt(.interrupted)).message.isEmpty)
    #expect(Diagnostic(.prompt(.interrupted)).status == .interrupted)
  }

  @Test func `a rekey whose end was not seen is not called undone`() {
    let begun = Diagnostic(.lost(.rekey(.file("new")), .hungUp))
    #expect(begun.message == "the agent ended before it answered: the rekey may have been done")
    #expect(begun.hint?.contains("kura slot test --recovery-key-file new'") == true)
    let unbegun = Diagnostic(.lost(.unbegunRekey, .hungUp))
    #expect(unbegun.message == "the agent ended before it answered")
    #expect(unbegun.hint == "try again; nothing was changed")
  }

  @Test func `only a lost connection leaves the end open`() {
    #expect(Lost.rotation.from(.hungUp) == .lost(.rotation, .hungUp))
    #expect(Lost.rotation.from(.outOfMemory) == .client(.outOfMemory))
  }

  @Test func `a full disk is called so`() {
    #expect(Diagnostic(.file(.write, path: "f", errno: 28)).message.contains("No space left"))
  }

  @Test(arguments: LockReason.allCases)
  func `the circumstances of a lock are told in brackets`(_ reason: LockReason) {
    let facts = LockFacts(reason: reason, since: 0, idleTimeout: 3_000)
    let expected = reason == .idle ? " (idle 3 s)" : " (" + reason.text + ")"
    #expect(Diagnostic.circumstances(facts) == expected)
  }

  @Test func `each notice has a sentence, but for what needs none`() {
    for bit in 0..<32 {
      let notice = Notice(rawValue: 1 << bit)
      let later: [Notice] = [.moved, .exchangeAccepted, .seenGone, .settingsLoosened]
      let isNamed = bit <= 9 || later.contains(notice)
      let isKnown = isNamed && notice != .alreadyUnlocked
      #expect(Notice.texts(notice, after: .passcode).count == (isKnown ? 1 : 0), "bit \(bit)")
    }
    for bit in 0..<6 { #expect(Weaknesses(rawValue: 1 << bit).list.count == 1) }
  }
}
