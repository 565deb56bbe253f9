// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

extension VaultAccess {
  /// Does what may read a protected value, and has the passcode proved afresh first where it does.
  func authorized<Value>(
    _ connection: inout Connection, _ body: (inout Connection) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    let refused: Refused
    do throws(ClientError) { return try body(&connection) } catch {
      guard let found = error.protectedRefusal else { throw .client(error) }
      refused = found
    }
    return try authorized(&connection, refused, body)
  }

  /// Has the passcode proved for what was refused, and does it again; once.
  func authorized<Value>(
    _ connection: inout Connection, _ refused: Refused,
    _ body: (inout Connection) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    try authorize(&connection, refused)
    return try running { () throws(ClientError) in try body(&connection) }
  }

  private func authorize(
    _ connection: inout Connection, _ refused: Refused
  ) throws(CommandError) {
    let kind = asking.authority
    if let secret = try asking.givenCredential(as: kind) {
      let notices = try running { () throws(ClientError) in
        try connection.authorize(kind, secret: secret)
      }
      return note(notices, after: kind)
    }
    var questioner = try asking.questioner()
    guard questioner.canAsk else { throw .client(.refused(refused)) }
    let report = try running { () throws(ClientError) in try connection.status() }
    let asked = report.lacksPasscode ? .recoveryKey : kind
    let purpose = Purpose("open", Diagnostic.shown(refused.text))
    let question = try question(asked, &connection, to: purpose)
    let notices = try questioner.attempts(question) { secret throws(ClientError) in
      do throws(ClientError) { return try connection.authorize(asked, secret: secret) } catch {
        // Locked while the prompt stood: what was typed is what unlocks it, too.
        guard LockFacts(error) != nil else { throw error }
        return try connection.unlock(asked, secret: secret, authorizing: true)
      }
    }
    note(notices, after: asked)
  }
}

extension ClientError {
  /// The refusal to open a protected item without a fresh passcode; nil for anything else.
  var protectedRefusal: Refused? {
    guard case .refused(let refused) = self, refused.failure == .protected else { return nil }
    return refused
  }
}
