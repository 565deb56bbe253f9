// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Asks a person for what a security key wants: its PIN, where it takes one, and a touch.
enum KeyTouch {
  /// What is said before the key blinks.
  static let sentence = "touch the security key when it blinks"

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
    if facts.pinTries < fewPINs {
      messages.warn(
        "the security key takes \(facts.pinTries) more wrong PINs before it is of no use")
    }
    return true
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
