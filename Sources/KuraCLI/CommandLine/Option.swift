// SPDX-License-Identifier: MIT

/// Describes one option of a command: how it is spelled, what it takes, and its line of help.
struct Option: Sendable {
  /// Says whether a value belongs to it, and what the help calls that.
  enum Value: Equatable, Sendable {
    case none
    /// `--option VALUE`, `--option=VALUE`, `-o VALUE` or `-oVALUE`.
    case required(String)
    /// Only `--option=VALUE`, so that an operand is never mistaken for it.
    case optional(String)
  }

  let name: OptionName
  /// The letter of the short form, ASCII.
  let letter: Unicode.Scalar?
  let value: Value
  let help: String

  init(
    _ name: OptionName, letter: Unicode.Scalar? = nil, _ value: Value = .none,
    help: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.help = help
  }

  /// Whether its value is a path of a file.
  var namesFile: Bool { value == .required("FILE") || value == .required("OUT") }
}

// MARK: - Shared by commands

extension Option {
  /// Taken before and after the verb.
  static let general = [
    Option(.vault, .required("VAULT"), help: "a vault's path or name, in place of $KURA_VAULT"),
    Option(.noAgent, help: "use a private engine that ends with this command"),
    Option(.quiet, letter: "q", help: "print no notices and no progress"),
    Option(.noInput, help: "never ask"),
    Option(.color, .required("WHEN"), help: "colour messages: auto, always or never"),
    Option(.help, letter: "h", help: "print help and exit"),
  ]

  /// Taken in place of a verb.
  static let programs = [Option(.version, help: "print the release and exit")]

  /// Taken by each verb that may be asked for a passcode.
  static let asking = [
    Option(.passcodeFD, .required("N"), help: "read the passcode from descriptor N"),
    Option(.passcodeFile, .required("FILE"), help: "read the passcode from FILE"),
    Option(.reason, .required("TEXT"), help: "what for, as it is shown with the question"),
  ]

  /// Taken by each verb that can wait until somebody else unlocks the vault.
  static let waiting = [
    Option(.wait, .optional("TIME"), help: "when locked, wait for an unlock, at most TIME")
  ]

  /// Taken by each verb that a recovery key can be given to in place of the passcode.
  static let recoveryKeys = [
    Option(.recoveryKey, help: "ask for the recovery key, not the passcode"),
    Option(.recoveryKeyFile, .required("FILE"), help: "read the recovery key from FILE"),
  ]

  /// Taken by each verb that a key file is shown to.
  static let keyFiles = [
    Option(.keyFile, .required("FILE"), help: "the key file: at least 32 bytes"),
    Option(.keyFileFD, .required("N"), help: "read the key file from descriptor N"),
  ]

  /// Taken by each verb that gives slots another vault key.
  static let chips = [
    Option(.tpm, help: "have the slots of this machine's TPM go over"),
    Option(.codeFD, .required("N"), help: "read the code for the TPM from descriptor N"),
    Option(.codeFile, .required("FILE"), help: "read the code for the TPM from FILE"),
    Option(.fido2, help: "have the slot of a security key go over"),
    Option(.pinFD, .required("N"), help: "read the security key's PIN from descriptor N"),
    Option(.pinFile, .required("FILE"), help: "read the security key's PIN from FILE"),
  ]

  static let weakPasscode = Option(
    .weakPasscode, help: "take one that a thief guesses within a day")

  static let json = Option(.json, help: "print JSON")
  static let ifRevision = Option(
    .ifRevision, .required("N"), help: "only if the item's revision is N")
  static let kdf = [
    Option(.kdfMemory, .required("SIZE"), help: "memory that a guess of the passcode costs"),
    Option(.kdfPasses, .required("N"), help: "passes over that memory"),
    Option(.weakKDF, help: "allow less than 64 MiB and 3 passes"),
  ]
}
