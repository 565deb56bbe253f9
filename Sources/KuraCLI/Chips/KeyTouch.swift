// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Asks a person for what a security key wants: its PIN, where it takes one, and a touch.
enum KeyTouch {
  /// What is said before the key blinks.
  static let sentence = "touch the security key when it blinks"

  /// The same to a person who is asked.
  static func remark(isAlone: Bool) -> String {
    isAlone ? "Touch the security key when it blinks." : "After the PIN, " + sentence + "."
  }

  /// So few PINs that are left are worth a word.
  private static let fewPINs = 4

  /// Whether the key that opens a slot of the vault takes a PIN.
  static func takesPIN(
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) -> Bool {
    let facts = try running { () throws(ClientError) in try connection.securityKey(forNew: false) }
    guard facts.takesPIN else {
      messages.note(sentence)
      return false
    }
    warn(of: facts, messages)
    return true
  }

  private static func warn(of facts: SecurityKeyFacts, _ messages: Messages) {
    guard facts.takesPIN, facts.pinTries < fewPINs else { return }
    messages.warn(
      "the security key takes \(facts.pinTries) more wrong PINs before it is of no use")
  }

  /// What the key asks for that opens a slot of the vault; nil where none is here.
  static func facts(
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) -> SecurityKeyFacts? {
    do throws(ClientError) {
      let facts = try connection.securityKey(forNew: false)
      warn(of: facts, messages)
      return facts
    } catch {
      guard case .refused = error else { throw .client(error) }
      return nil
    }
  }

  /// What is said before it blinks for the second time.
  static let again = "touch the security key once more when it blinks"

  /// Has a security key proved that opens a slot of the vault: its PIN, where it takes one, and a touch.
  ///
  /// - Parameter kept: Gets the slot's number.
  /// - Returns: The PIN; without bytes for a key that takes none.
  static func prove(
    _ access: VaultAccess, keeping kept: inout [UInt8], _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> SecretBytes {
    var opened: UInt8 = 0
    defer { kept.append(opened) }
    if let given = try access.asking.secret(.pinFD, .pinFile) {
      access.messages.note(sentence)
      opened = try running { () throws(ClientError) in
        try connection.testSlot(nil, .fido2, secret: given)
      }
      return given
    }
    guard try takesPIN(&connection, access.messages) else {
      let nothing = try nothing()
      opened = try running { () throws(ClientError) in
        try connection.testSlot(nil, .fido2, secret: nothing)
      }
      return nothing
    }
    guard questioner.canAsk else { throw .noInteraction(.pin) }
    questioner.renew()
    let pin = try ProvedCredential.ask(access, &questioner, &connection, .fido2) {
      kind, secret, connection throws(ClientError) in
      opened = try connection.testSlot(nil, kind, secret: secret)
      return nil
    }
    return pin
  }

  /// No PIN.
  static func nothing() throws(CommandError) -> SecretBytes {
    try allocating { () throws(SecureMemoryError) in try SecretBytes(count: 0) }
  }

  /// The PIN for a new slot, which is typed once: the key knows it.
  static func newPIN(
    _ facts: SecurityKeyFacts, given: consuming SecretBytes?, _ questioner: inout Questioner
  ) throws(CommandError) -> SecretBytes {
    if let given = given.take() { return given }
    guard facts.takesPIN else { return try nothing() }
    guard questioner.canAsk else { throw .noInteraction(.newPasscode) }
    let pin = try questioner.ask("PIN of the security key: ", isHidden: true)
    questioner.endLine()
    return pin
  }
}
