// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Keeps what unlocked the vault in this command, so that its owner is not asked for it twice.
struct KeptSecret: ~Copyable {
  private let isWanted: Bool
  private var secret: SecretBytes?
  /// Whether it was typed, where a passcode is asked for, and may be a code for this machine.
  private(set) var isTyped = false

  init(isWanted: Bool) { self.isWanted = isWanted }

  /// Keeps a copy; without memory for it the owner is asked again.
  mutating func keep(_ given: borrowing SecretBytes, isTyped: Bool) {
    guard isWanted else { return }
    self.isTyped = isTyped
    do throws(SecureMemoryError) { secret = try given.copy() } catch {}
  }

  mutating func take() -> SecretBytes? { secret.take() }
}

/// Keeps what a command has of its vault, from one thing that it does there to the next.
struct Held: ~Copyable {
  var connection: Connection?
  /// What unlocked the vault.
  var secret: KeptSecret

  /// Nothing yet.
  ///
  /// - Parameter keepsSecret: Whether what unlocks the vault may be used for something else.
  init(keepsSecret: Bool = false) {
    connection = nil
    secret = KeptSecret(isWanted: keepsSecret)
  }
}

extension VaultAccess {
  /// Does what may take the owner's word: without one first, and where it is refused so, with that of the
  /// owner, who is asked what it is for.
  ///
  /// - Parameters:
  ///   - purpose: What the word is for, as in `to rename it`.
  ///   - body: Is run again with the word, and again after an unlock: when it is refused because the vault
  ///     is locked, or for want of the word, it must have done nothing yet.
  func owned<Value>(
    to purpose: Purpose,
    _ body: (inout Connection, borrowing Word?) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var held = Held(keepsSecret: true)
    return try unlocked(holding: &held) { connection throws(ClientError) in
      try body(&connection, nil)
    } recovering: { connection, refused, kept throws(CommandError) in
      guard refused.failure == .ownerNeeded else { throw .client(.refused(refused)) }
      return try give(&kept, &connection, purpose, body)
    }
  }

  /// Sends the request with the owner's word.
  private func give<Value>(
    _ kept: inout KeptSecret, _ connection: inout Connection, _ purpose: Purpose,
    _ body: (inout Connection, borrowing Word?) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    let kind = asking.authority
    var secret = kept.take()
    if secret != nil, kept.isTyped, try takesCodes(&connection) { secret = nil }
    if secret == nil { secret = try asking.givenCredential(as: kind) }
    if let secret = consume secret {
      let word: Word? = Word(kind, secret)
      return try running { () throws(ClientError) in try body(&connection, word) }
    }
    return try askOwner(&connection, to: purpose) { kind, secret, engine throws(ClientError) in
      let copy: SecretBytes
      do throws(SecureMemoryError) { copy = try secret.copy() } catch { throw .outOfMemory }
      return try body(&engine, Word(kind, copy))
    }
  }

  /// Whether what was typed for the passcode may have been a code, which vouches for nobody and would
  /// count as a wrong passcode.
  func takesCodes(_ connection: inout Connection) throws(CommandError) -> Bool {
    try running { () throws(ClientError) in try connection.status() }.tries
      .contains { $0.kind == .local }
  }

  /// Asks the owner for the passcode, or for the recovery key where there is no passcode, three times at
  /// most. A code for this machine would not do, but one for its TPM, or a security key, may.
  func askOwner<Value>(
    _ connection: inout Connection, to purpose: Purpose,
    _ body: (Credential, borrowing SecretBytes, inout Connection) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var questioner = try asking.questioner()
    guard questioner.canAsk else { throw .noInteraction(.owner(purpose.text)) }
    let report = try running { () throws(ClientError) in try connection.status() }
    let kind = report.lacksPasscode ? .recoveryKey : asking.authority
    var question = question(kind, to: purpose)
    if kind == .passcode { question.wait = report.wait(.passcode) }
    question.swaps = try swaps(for: .owning, kind, report, purpose, &connection)
    question.hasRecoveryKey = !report.weaknesses.contains(.noRecoveryKey)
    return try questioner.attempts(question) { kind, secret throws(ClientError) in
      try body(kind, secret, &connection)
    }
  }
}

extension StatusReport {
  /// Whether only the recovery key vouches for the owner: no passcode does.
  var lacksPasscode: Bool {
    !tries.contains { $0.kind == .passcode } && !weaknesses.contains(.noRecoveryKey)
  }
}
