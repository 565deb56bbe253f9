// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Asking a person for what unlocks the vault.
extension VaultAccess {
  /// Has a person asked for a credential, here or by another command that wants the same unlock, and
  /// tries it, three times at most.
  ///
  /// - Parameter body: Unlocks the vault.
  /// - Returns: A connection to an engine with the vault unlocked.
  func ask(
    _ questioner: inout Questioner, _ kind: Credential, _ connection: consuming Connection,
    _ body: (Credential, borrowing SecretBytes, inout Connection) throws(ClientError) -> Notice
  ) throws(CommandError) -> Connection {
    if isPrivate {
      let offer = try offer(kind, questioner.hasTerminal, &connection)
      if try unlocked(by: offer, &connection) { return connection }
      return try askAlone(&questioner, kind, connection, offer, body)
    }
    var turn = try Turn.begin(
      connection, at: questioner.place, seesKeys: questioner.hasTerminal)
    var hadTurn = false
    while true {
      switch turn.state {
      case .unlocked: return turn.finish()
      case .elsewhere(let place):
        try questioner.wait(for: place, &turn, hadTurn: hadTurn, messages)
      case .ours:
        hadTurn = true
        if try ask(&questioner, kind, &turn, body) { return turn.finish() }
      }
      try turn.update()
    }
  }

  /// Asks in this command's turn.
  ///
  /// - Returns: Whether the vault was unlocked; false where the turn is over first.
  private func ask(
    _ questioner: inout Questioner, _ kind: Credential, _ turn: inout Turn,
    _ body: (Credential, borrowing SecretBytes, inout Connection) throws(ClientError) -> Notice
  ) throws(CommandError) -> Bool {
    let terminal = questioner.hasTerminal
    let offer = try turn.conversing { connection throws(CommandError) in
      try self.offer(kind, terminal, &connection)
    }
    let isUnlocked = try turn.conversing { connection throws(CommandError) in
      try unlocked(by: offer, &connection)
    }
    if isUnlocked { return true }
    let question = try turn.conversing { connection throws(CommandError) -> Question in
      try self.question(kind, &connection, offer)
    }
    if turn.isOver { return false }
    var used = kind
    do throws(CommandError) {
      let notices = try questioner.attempts(question, watch: &turn) {
        (kind: Credential, secret: borrowing SecretBytes, turn: inout Turn)
          throws(ClientError) -> Notice in
        used = kind
        return try turn.conversing { connection throws(ClientError) in
          if let notices = try offer.unlock(afterTyping: secret, &connection) { return notices }
          return try body(kind, secret, &connection)
        }
      }
      note(notices, after: used)
      return true
    } catch {
      if error == .prompt(.answeredElsewhere) { return false }
      turn.end(with: error)
      throw error
    }
  }

  /// Asks without regard to other commands: they want something else.
  func askAlone(
    _ questioner: inout Questioner, _ kind: Credential, _ connection: consuming Connection,
    _ offer: UnlockOffer,
    _ body: (Credential, borrowing SecretBytes, inout Connection) throws(ClientError) -> Notice
  ) throws(CommandError) -> Connection {
    let question = try question(kind, &connection, offer)
    var used = kind
    let notices = try questioner.attempts(question) { kind, secret throws(ClientError) in
      used = kind
      if let notices = try offer.unlock(afterTyping: secret, &connection) { return notices }
      return try body(kind, secret, &connection)
    }
    note(notices, after: used)
    return connection
  }

  /// The question for what unlocks the vault, and how long it has to wait.
  ///
  /// - Parameters:
  ///   - offer: What else the prompt takes.
  ///   - purpose: What it is for, where that is not the unlock.
  func question(
    _ kind: Credential, _ connection: inout Connection, _ offer: UnlockOffer = UnlockOffer(),
    to purpose: Purpose? = nil
  ) throws(CommandError) -> Question {
    guard kind == .passcode || kind == .local else { return question(kind, to: purpose) }
    let report = try running { () throws(ClientError) in try connection.status() }
    let isCode =
      kind == .local || report.takesOnlyCodes
      || (report.passcodeWait > 0 && report.takesCodesNow)
    let submits = offer.submitLength > 0 && report.takesCodesNow
    // What is meant for a code is never tried as a passcode, which would have to wait for it.
    var question = question(isCode || submits ? .local : .passcode, to: purpose)
    if submits {
      question.submitLength = offer.submitLength
      question.otherLabel = self.question(.passcode, to: purpose).label
    }
    question.enterRemark = offer.enterRemark
    if offer.takesChipCode, offer.enterRemark == nil, !submits {
      question.swaps = [chipSwap(report, purpose)]
    }
    question.wait = question.isCode ? report.wait(.local) : report.passcodeWait
    question.hasRecoveryKey = !report.weaknesses.contains(.noRecoveryKey)
    return question
  }

  /// Says what an unlock by a credential had to say.
  func note(_ notices: Notice, after kind: Credential) {
    for text in Notice.texts(notices, after: kind) { messages.note(text) }
  }
}

extension StatusReport {
  /// Whether what is typed at the prompt can only be a code for this machine.
  var takesOnlyCodes: Bool {
    tries.contains { $0.kind == .local } && !tries.contains { $0.kind == .passcode }
  }

  /// Whether a code for this machine does not have to wait.
  var takesCodesNow: Bool { tries.contains { $0.kind == .local && $0.wait == 0 } }

  func wait(_ kind: TryKind) -> UInt64 { tries.first { $0.kind == kind }?.wait ?? 0 }
}
