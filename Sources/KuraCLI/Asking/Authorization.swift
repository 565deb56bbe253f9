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
    try authorize(&connection, item)
    return try running { () throws(ClientError) in try body(&connection) }
  }

  private func authorize(
    _ connection: inout Connection, _ item: Refusal.Subject
  ) throws(CommandError) {
    let purpose = Purpose("open", Diagnostic.shown(item.text))
    let terms = GrantTerms(
      to: .program, lifetime: WishRequest.ownersChoice, reason: asking.reason ?? [])
    if item != .none, try answered([item.text], terms, &connection) { return }
    // Who waits is not asked.
    if patience == nil || asking.isGiven, try authorize(&connection, to: purpose) { return }
    throw .client(.refused(.protected(item)))
  }

  /// Has the passcode proved, also where nothing asks for it.
  ///
  /// - Returns: False where it is not given, and nobody can be asked.
  func authorize(
    _ connection: inout Connection, to purpose: Purpose
  ) throws(CommandError) -> Bool {
    let kind = asking.authority
    if let secret = try asking.givenCredential(as: kind) {
      let notices = try running { () throws(ClientError) in
        try connection.authorize(kind, secret: secret)
      }
      note(notices, after: kind)
      return true
    }
    var questioner = try asking.questioner()
    guard questioner.canAsk else { return false }
    let report = try running { () throws(ClientError) in try connection.status() }
    let asked = report.lacksPasscode ? .recoveryKey : kind
    let question = try question(asked, &connection, to: purpose)
    let notices = try questioner.attempts(question) { kind, secret throws(ClientError) in
      do throws(ClientError) { return try connection.authorize(kind, secret: secret) } catch {
        // Locked while the prompt stood: what was typed is what unlocks it, too.
        guard LockFacts(error) != nil else { throw error }
        return try connection.unlock(kind, secret: secret, authorizing: true)
      }
    }
    note(notices, after: asked)
    return true
  }
}
