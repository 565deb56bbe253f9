// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

extension VaultAccess {
  /// Does what may read a protected value, and has the passcode proved afresh first where it does.
  func authorized<Value>(
    _ connection: inout Connection, _ body: (inout Connection) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    let item: Refusal.Subject
    do throws(ClientError) { return try body(&connection) } catch {
      guard case .refused(.protected(let subject)) = error else { throw .client(error) }
      item = subject
    }
    return try authorized(&connection, item, body)
  }

  /// Has the passcode proved for a protected item, and does again what was refused; once.
  func authorized<Value>(
    _ connection: inout Connection, _ item: Refusal.Subject,
    _ body: (inout Connection) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var value: Value?
    try authorize(&connection, item) { connection throws(ClientError) in
      value = try body(&connection)
    }
    if let value { return value }
    return try running { () throws(ClientError) in try body(&connection) }
  }

  @inline(never)
  private func authorize(
    _ connection: inout Connection, _ item: Refusal.Subject,
    again: (inout Connection) throws(ClientError) -> Void
  ) throws(CommandError) {
    let purpose = Purpose("open", Diagnostic.shown(item.text))
    // An earlier revision is opened by the passcode alone.
    if item != .none, opening.revision == 0, !asking.isGiven {
      let names = asked(after: item, &connection)
      if try answered(names.isEmpty ? [item.text] : names, wishTerms, &connection) { return }
    }
    // Who waits is not asked.
    if patience == nil || asking.isGiven,
      try authorize(&connection, to: purpose, item, again: again)
    {
      return
    }
    throw .client(.refused(.protected(item)))
  }

  /// Has the passcode proved, also where nothing asks for it.
  ///
  /// - Parameters:
  ///   - item: What it is for alone: at a terminal, it can be for longer than this once.
  ///   - again: Does what it is for, once another command has asked at the terminal: what was answered there may be for
  ///     this one, too.
  /// - Returns: False where it is not given, and nobody can be asked.
  @inline(never)
  func authorize(
    _ connection: inout Connection, to purpose: Purpose, _ item: Refusal.Subject = .none,
    again: (inout Connection) throws(ClientError) -> Void = { _ throws(ClientError) in
      throw .refused(.protected(.none))
    }
  ) throws(CommandError) -> Bool {
    let kind = asking.authority
    if let secret = try asking.givenCredential(as: kind) {
      let notices = try running { () throws(ClientError) in
        try connection.authorize(
          kind, secret: secret, for: opening.names(after: item), revision: opening.revision)
      }
      note(notices, after: kind)
      return true
    }
    var questioner = try asking.questioner()
    guard questioner.canAsk else { return false }
    if questioner.hasTerminal, !isPrivate {
      let names = self.asked(after: item, &connection)
      if !names.isEmpty, try askTogether(names, item, &questioner, &connection) {
        return true
      }
    }
    if try questioner.awaitTerminal(), try serves(&connection, again) { return true }
    let report = try running { () throws(ClientError) in try connection.status() }
    let asked = report.lacksPasscode ? .recoveryKey : kind
    var question = try question(asked, &connection, to: purpose)
    question.swaps = try swaps(for: .reading, question.kind, report, purpose, &connection)
    let notices = try questioner.attempts(question) { kind, secret throws(ClientError) in
      try connection.open(item, opening, .once, kind, secret, []).0
    }
    note(notices, after: asked)
    return true
  }

  /// What is wished for beside the names.
  var wishTerms: GrantTerms {
    GrantTerms(to: .program, lifetime: WishRequest.ownersChoice, reason: asking.reason ?? [])
  }

  /// What the owner is asked for together: of the items that the command reads those that are protected; none where that
  /// is more than a question names, or an earlier revision.
  private func asked(after item: Refusal.Subject, _ connection: inout Connection) -> [String] {
    let all = opening.names(after: item)
    guard item != .none, opening.revision == 0 else { return [] }
    guard all.count > 1 else { return all }
    var names: [String] = []
    for name in all where !names.contains(name) {
      let known = try? connection.show(name).item
      if known?.facts.protection == .protected { names.append(name) }
    }
    return names.count <= ProtocolLimit.asked ? names : []
  }

  private func serves(
    _ connection: inout Connection, _ body: (inout Connection) throws(ClientError) -> Void
  ) throws(CommandError) -> Bool {
    do throws(ClientError) { try body(&connection) } catch {
      guard case .refused(.protected) = error else { throw .client(error) }
      return false
    }
    return true
  }

  /// Says what stands now: to whom, for how long, and how it ends.
  func tell(
    _ reply: GrantReply, lasting time: UInt64, _ connection: inout Connection
  ) throws(CommandError) {
    let all = try running { () throws(ClientError) in try connection.grants() }
    guard let grant = all.first(where: { $0.number == reply.number }) else { return }
    messages.note(
      "grant \(grant.number): " + Diagnostic.shown(grant.program) + " (\(grant.process)) and the"
        + " programs below it read this, for " + TimeSpan(milliseconds: time).words
        + " at most; 'kura grant revoke \(grant.number)' ends it")
  }
}

extension Connection {
  /// Has the passcode proved for an item: for this connection alone, or for the program that asks, as it was chosen.
  mutating func open(
    _ item: Refusal.Subject, _ opening: Opening, _ term: ApprovedTerm, _ kind: Credential,
    _ secret: borrowing SecretBytes, _ reason: [UInt8]
  ) throws(ClientError) -> (Notice, GrantReply?) {
    do throws(ClientError) {
      return try opened(item, opening, term, kind, secret, reason)
    } catch {
      // Locked while the prompt stood: what was typed is what unlocks it, too.
      guard LockFacts(error) != nil else { throw error }
      let notices = try unlock(
        kind, secret: secret, authorizing: true, for: opening.names(after: item),
        revision: opening.revision)
      guard term.lifetime != nil else { return (notices, nil) }
      return try opened(item, opening, term, kind, secret, reason)
    }
  }

  private mutating func opened(
    _ item: Refusal.Subject, _ opening: Opening, _ term: ApprovedTerm, _ kind: Credential,
    _ secret: borrowing SecretBytes, _ reason: [UInt8]
  ) throws(ClientError) -> (Notice, GrantReply?) {
    guard let lifetime = term.lifetime else {
      let notices = try authorize(
        kind, secret: secret, for: opening.names(after: item), revision: opening.revision)
      return (notices, nil)
    }
    let terms = GrantTerms(to: .program, lifetime: lifetime, reason: reason)
    let reply = try grant([item.text], terms, kind, secret: secret)
    return (reply.notices, reply)
  }
}
