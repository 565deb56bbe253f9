// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension ClientError: CustomStringConvertible {
  /// What went wrong, on one line, for people.
  public var description: String {
    switch self {
    case .noAgent, .hungUp: "the agent has ended"
    case .agentMissing(let directory): "the program kura-agent is not installed beside " + directory
    case .agentFailed(_, let text): "the agent did not start: " + text
    case .agentUnsafe(let directory):
      "somebody else could answer in the agent's place: " + directory
    case .otherVersion(_, let release): "the agent is of another release: " + release
    case .timedOut: "the agent did not answer in time"
    case .broken: "the agent's answer was not understood"
    case .refused(let refusal): refusal.sentence
    case .path(let error): error.description
    case .output(let number): "the value cannot be written: " + SystemMessage.text(number)
    case .input(let number): "the file cannot be read: " + SystemMessage.text(number)
    case .tooLong(let limit): "more than \(limit) bytes are not taken"
    case .stopped: "nothing was done: it was called off"
    case .outOfMemory: "no memory was left"
    case .agentUnreachable(let directory, let number):
      "the agent cannot be reached in " + directory + ": " + SystemMessage.text(number)
    case .programUnstartable(let path, let number):
      "cannot start " + path + ": " + SystemMessage.text(number)
    case .system(let number): SystemMessage.text(number)
    }
  }
}

extension PathError: CustomStringConvertible {
  /// What is wrong with the place, on one line, for people.
  public var description: String {
    switch self {
    case .homeUnknown: "no place for files is known: HOME is not set"
    case .empty: "a vault's name is not empty"
    case .tooLong(let limit): "a vault's place has at most \(limit) bytes"
    case .nameInvalid: "this cannot be a vault's name"
    case .notText(let what): what + " is not UTF-8 text"
    case .noWorkingDirectory(let number):
      "the working directory cannot be told: " + SystemMessage.text(number)
    }
  }
}

extension OwnerError: CustomStringConvertible {
  /// Why the owner's word was not had, on one line, for people.
  public var description: String {
    switch self {
    case .wrong: "no right passcode was given"
    case .cancelled: "the question was not answered"
    case .mustWait: "too many wrong passcodes: nobody is asked for a while"
    case .nobody: "nobody could be asked"
    case .client(let error): error.description
    case .failed(let status, let sentence): sentence.utf8.isEmpty ? status.summary : sentence
    }
  }
}

extension Refusal {
  /// Those that programs meet have words of their own; of the others what their status means is said.
  fileprivate var sentence: String {
    if case .wrongPasscode(let wrong) = self {
      return "wrong passcode" + (wrong.failures > 1 ? ", \(wrong.failures) in a row" : "")
    }
    if case .noVault = self { return "the vault is not there any more" }
    if case .wrongKey = self { return "this key opens nothing here" }
    if case .recoveryKeyTypo(let typo) = self { return Self.text(typo) }
    if case .throttled = self { return "too many wrong passcodes" }
    if case .localErased = self {
      return
        "wrong too often: this machine's codes are destroyed; the passcode still opens the vault"
    }
    if case .exchanged = self { return "another vault was here before: see kura unlock" }
    if failure == .rolledBack || failure == .forked {
      return "this is an older copy of the vault: see kura unlock"
    }
    if case .nameInvalid(let rule) = self { return "a name " + rule.text }
    if case .attributeInvalid(let rule) = self { return rule.text }
    if case .exists = self { return "an item of that name is there already" }
    if case .notFound = self { return "there is no such item" }
    if case .protected = self { return "the item is protected: its owner has to say yes" }
    if case .ownerNeeded = self { return "that takes the owner's word" }
    if case .locked = self { return "the vault is locked" }
    if case .fingerWrong = self { return "the finger does not match" }
    if case .fingerUnfit(let fault) = self { return "no finger is taken: " + fault.text }
    if case .notOTP = self { return "the item gives no codes" }
    if case .otpInvalid = self { return "this is no otpauth URI" }
    if case .revisionConflict = self {
      return "the item was changed meanwhile: nothing was done"
    }
    if case .settingInvalid(let setting) = self { return setting.name + ": out of range" }
    return failure.exitStatus.summary
  }

  private static func text(_ typo: RecoveryKeyTypo) -> String {
    switch typo {
    case .anywhere: "the recovery key has a typing error"
    case .group(let group): "the recovery key has a typing error in group \(group)"
    case .length(let count): "a recovery key has 36 letters and digits, not \(count)"
    }
  }
}
