// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Asking at a terminal from which everything was taken when the vault was locked.
extension VaultAccess {
  /// Has a person unlock the vault, here or elsewhere. What options hand over is not taken: it would undo the
  /// lock.
  ///
  /// - Returns: What tells of the next lock, without which nothing is uncovered; nil: the person gives up what is
  ///   covered.
  func askWhileCovered() throws(CommandError) -> LockWatch? {
    var isAlone = false
    while true {
      var questioner = try asking.questioner()
      guard questioner.hasTerminal else {
        try awaitUnlock()
        return try LockWatch.begin(self)
      }
      questioner.prompt?.say("The vault is locked: " + title)
      questioner.prompt?.say("The editor is stopped, and goes on after an unlock.")
      do throws(CommandError) {
        try unlock(&questioner, isAlone)
        return try LockWatch.begin(self)
      } catch {
        if error == .prompt(.closed) || error == .prompt(.failed) { throw error }
        if error != .prompt(.interrupted), error != .prompt(.cancelled) {
          messages.report(Diagnostic(error))
        }
        // Who has cancelled is asked no more for a while, with all who waited.
        isAlone = true
      }
      questioner = try asking.questioner()
      guard try asksAgain(&questioner) else { return nil }
    }
  }

  private func unlock(
    _ questioner: inout Questioner, _ isAlone: Bool
  ) throws(CommandError) {
    let kind = asking.authority
    let connection = try connect()
    if isAlone {
      _ = try askAlone(&questioner, kind, connection, UnlockOffer()) {
        kind, secret, engine throws(ClientError) in
        try engine.unlock(kind, secret: secret)
      }
    } else {
      _ = try ask(&questioner, kind, connection) { kind, secret, engine throws(ClientError) in
        try engine.unlock(kind, secret: secret)
      }
    }
  }

  private func awaitUnlock() throws(CommandError) {
    var connection = try connect()
    try running { () throws(ClientError) in
      try connection.wait(milliseconds: UInt64(Int32.max))
    }
  }

  private func asksAgain(_ questioner: inout Questioner) throws(CommandError) -> Bool {
    while true {
      let answer: SecretBytes
      do throws(CommandError) {
        answer = try questioner.ask(
          "a: ask again; d: drop the text, and end [a/d] ", isHidden: false)
      } catch {
        if error == .prompt(.interrupted) || error == .prompt(.cancelled) { continue }
        throw error
      }
      questioner.endLine()
      if answer.count == 1, answer.bytes[0] | 0x20 == UInt8(ascii: "a") { return true }
      if answer.count == 1, answer.bytes[0] | 0x20 == UInt8(ascii: "d") { return false }
    }
  }
}
