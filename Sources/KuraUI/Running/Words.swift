// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Says on one line what went wrong.
enum Words {
  static func text(_ error: ClientError) -> String {
    guard case .refused(let refusal) = error else {
      if error == .noAgent || error == .hungUp { return "the agent has ended" }
      if case .input(let number) = error {
        return "the file cannot be read: " + SystemMessage.text(number)
      }
      return error == .outOfMemory ? "no memory was left" : "the agent: " + error.exitStatus.summary
    }
    return text(refusal)
  }

  /// Those that a screen meets have words of their own; of the others what their status means is said.
  private static func text(_ refusal: Refusal) -> String {
    if case .wrongPasscode(let wrong) = refusal {
      return "wrong passcode" + (wrong.failures > 1 ? ", \(wrong.failures) in a row" : "")
    }
    if case .noVault = refusal { return "the vault is not there any more" }
    if case .wrongKey = refusal { return "this key opens nothing here" }
    if case .recoveryKeyTypo(let typo) = refusal { return text(typo) }
    if case .throttled = refusal { return "too many wrong passcodes" }
    if case .localErased = refusal {
      return
        "wrong too often: this machine's codes are destroyed; the passcode still opens the vault"
    }
    if case .exchanged = refusal { return "another vault was here before: see kura unlock" }
    if refusal.failure == .rolledBack || refusal.failure == .forked {
      return "this is an older copy of the vault: see kura unlock"
    }
    if case .nameInvalid(let rule) = refusal { return "a name " + rule.text }
    if case .attributeInvalid(let rule) = refusal { return rule.text }
    if case .exists = refusal { return "an item of that name is there already" }
    if case .notOTP = refusal { return "the item gives no codes" }
    if case .otpInvalid = refusal { return "this is no otpauth URI" }
    if case .revisionConflict = refusal {
      return "the item was changed meanwhile: nothing was done"
    }
    if case .settingInvalid(let setting) = refusal { return setting.name + ": out of range" }
    return refusal.failure.exitStatus.summary
  }

  private static func text(_ typo: RecoveryKeyTypo) -> String {
    switch typo {
    case .anywhere: "the recovery key has a typing error"
    case .group(let group): "the recovery key has a typing error in group \(group)"
    case .length(let count): "a recovery key has 36 letters and digits, not \(count)"
    }
  }
}
