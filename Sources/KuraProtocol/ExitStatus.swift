// SPDX-License-Identifier: MIT

/// Tells a script how a command ended: a contract, stable.
public enum ExitStatus: UInt8, Sendable, CaseIterable {
  case ok = 0
  case failure = 1
  case usage = 2
  case notFound = 3
  case locked = 4
  case wrongPasscode = 5
  case cancelled = 6
  case denied = 7
  case throttled = 8
  case needsInteraction = 9
  case ambiguous = 10
  case exists = 11
  case integrity = 12
  case noVault = 13
  case busy = 14
  case agent = 15
  case inputOutput = 16
  case runFailed = 125
  case notExecutable = 126
  case commandNotFound = 127
  case interrupted = 130

  /// The word for it, as the man page has it.
  public var name: String {
    switch self {
    case .ok: "ok"
    case .failure: "failure"
    case .usage: "usage"
    case .notFound: "not-found"
    case .locked: "locked"
    case .wrongPasscode: "wrong-passcode"
    case .cancelled: "cancelled"
    case .denied: "denied"
    case .throttled: "throttled"
    case .needsInteraction: "needs-interaction"
    case .ambiguous: "ambiguous"
    case .exists: "exists"
    case .integrity: "integrity"
    case .noVault: "no-vault"
    case .busy: "busy"
    case .agent: "agent"
    case .inputOutput: "input-output"
    case .runFailed: "run-failed"
    case .notExecutable: "not-executable"
    case .commandNotFound: "command-not-found"
    case .interrupted: "interrupted"
    }
  }

  /// What it means, in one line.
  public var summary: String {
    switch self {
    case .ok: "done"
    case .failure: "anything that has no status of its own"
    case .usage: "the command was not understood"
    case .notFound: "no such item, attribute or revision"
    case .locked: "the vault is locked and nobody could be asked"
    case .wrongPasscode: "the passcode or recovery key is wrong"
    case .cancelled: "the prompt was cancelled"
    case .denied: "policy does not allow it"
    case .throttled: "too many wrong passcodes; wait as long as the message says"
    case .needsInteraction: "the vault is unlocked, but a person is needed"
    case .ambiguous: "more than one item fits"
    case .exists: "it exists already, or its revision is another"
    case .integrity: "damage, tampering or rollback was found"
    case .noVault: "there is no vault there"
    case .busy: "busy, or the time ran out"
    case .agent: "the agent cannot be reached, or is of another version"
    case .inputOutput: "input, output or a full disk"
    case .runFailed: "run did not come to start the command"
    case .notExecutable: "run found the command and could not run it"
    case .commandNotFound: "run did not find the command"
    case .interrupted: "interrupted"
    }
  }
}
