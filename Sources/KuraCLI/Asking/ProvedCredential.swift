// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds the credential that allows a change. A typed one is proved before anything else is asked for, so
/// that nobody thinks of a new passcode only to hear that the old one was wrong.
struct ProvedCredential: ~Copyable {
  let kind: Credential
  let isTyped: Bool
  let secret: SecretBytes

  /// Takes what a script hands over, or asks a person until it is right, three times at most.
  ///
  /// - Parameters:
  ///   - wanted: What it must be; nil for what the options say.
  ///   - provingGiven: Whether that of a script is proved, too: because a person is asked for more.
  static func take(
    _ access: VaultAccess, _ questioner: inout Questioner, _ connection: inout Connection,
    as wanted: Credential? = nil, provingGiven: Bool = false
  ) throws(CommandError) -> ProvedCredential {
    var kind = wanted ?? access.asking.kind
    if let secret = try access.asking.givenCredential(as: kind) {
      if provingGiven {
        try running { () throws(ClientError) in
          _ = try connection.testSlot(nil, kind, secret: secret)
        }
      }
      return ProvedCredential(kind: kind, isTyped: false, secret: secret)
    }
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    // A code changes no slot: where there is no passcode, the recovery key is what does.
    if kind == .passcode, !slots.contains(where: { $0.facts.kind == .passcode }) {
      kind = .recoveryKey
    }
    let codes = slots.filter { kind != .local && $0.facts.kind == .local }.map { $0.facts.number }
    let secret = try ask(access, &questioner, &connection, kind) {
      kind, secret, connection throws(ClientError) in
      let opened = try connection.testSlot(nil, kind, secret: secret)
      return codes.contains(opened)
        ? "That is the code of this machine, which changes no slot; the passcode does." : nil
    }
    return ProvedCredential(kind: kind, isTyped: true, secret: secret)
  }

  /// Asks a person for one.
  ///
  /// - Parameter prove: Tries it; as for ``Questioner/answer(to:watch:_:)``.
  static func ask(
    _ access: VaultAccess, _ questioner: inout Questioner, _ connection: inout Connection,
    _ kind: Credential,
    _ prove: (
      Credential, borrowing SecretBytes, inout Connection
    ) throws(ClientError) -> String?
  ) throws(CommandError) -> SecretBytes {
    guard questioner.canAsk else {
      throw .noInteraction(kind == .recoveryKey ? .recoveryKey : .passcode)
    }
    let question = try access.question(kind, &connection)
    var nobody = NobodyElse()
    return try questioner.answer(to: question, watch: &nobody) {
      kind, secret, _ throws(ClientError) in
      try prove(kind, secret, &connection)
    }
  }
}
