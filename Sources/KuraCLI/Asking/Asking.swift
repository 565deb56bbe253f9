// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Gets passcodes and recovery keys from files, descriptors or a person: never from arguments,
/// never from a variable.
struct Asking: Sendable {
  let arguments: Arguments
  private let variables: Variables

  init(_ arguments: Arguments, _ variables: Variables) {
    self.arguments = arguments
    self.variables = variables
  }

  /// The most that is read of a passcode's or a recovery key's file.
  private static let limit = 65_536
}

extension Asking {
  /// Whether this is a room, where nobody is asked, and no question of the agent's is served.
  var isInRoom: Bool { variables[RoomPlace.mark] != nil }
}

// MARK: - Without a person

extension Asking {
  /// The passcode that a script hands over: by descriptor, by file, by `$KURA_PASSCODE_FILE`, or as
  /// a credential of the service manager.
  func givenPasscode() throws(CommandError) -> SecretBytes? {
    if let passcode = try secret(.passcodeFD, .passcodeFile) { return passcode }
    if let path = variables["KURA_PASSCODE_FILE"] { return try Self.line(path: path) }
    guard let directory = variables["CREDENTIALS_DIRECTORY"] else { return nil }
    let path = directory + "/kura-passcode"
    return System.fileKind(path) == KURA_ABSENT ? nil : try Self.line(path: path)
  }

  /// Whether a script hands over a credential.
  var isGiven: Bool {
    let options: [OptionName] = [
      .passcodeFD, .passcodeFile, .recoveryKeyFile, .keyFile, .keyFileFD,
    ]
    if options.contains(where: { arguments.has($0) }) { return true }
    if variables["KURA_PASSCODE_FILE"] != nil { return true }
    guard let directory = variables["CREDENTIALS_DIRECTORY"] else { return false }
    return System.fileKind(directory + "/kura-passcode") != KURA_ABSENT
  }

  /// What unlocks the vault: the passcode, unless options say recovery key, key file, TPM or security key.
  var kind: Credential {
    if arguments.has(.tpm) { return .tpm }
    if arguments.has(.fido2) { return .fido2 }
    return arguments.has(.keyFile) || arguments.has(.keyFileFD) ? .keyFile : authority
  }

  /// What the program that asks says it is for.
  var reason: [UInt8]? { arguments.value(.reason) }

  /// What allows a change of the slots.
  var authority: Credential {
    arguments.has(.recoveryKey) || arguments.has(.recoveryKeyFile) ? .recoveryKey : .passcode
  }

  /// The credential that a script hands over; nil where it is to be asked for.
  ///
  /// - Parameter wanted: What it must be; nil for what the options say.
  func givenCredential(as wanted: Credential? = nil) throws(CommandError) -> SecretBytes? {
    let kind = wanted ?? self.kind
    if kind == .tpm {
      try parsing { () throws(UsageError) in
        try arguments.refuse(
          .tpm, with: .recoveryKey, .recoveryKeyFile, .keyFile, .keyFileFD, .fido2)
      }
    }
    if kind == .fido2 {
      try parsing { () throws(UsageError) in
        try arguments.refuse(.fido2, with: .recoveryKey, .recoveryKeyFile, .keyFile, .keyFileFD)
      }
    }
    if kind == .keyFile { return try keyFile() }
    try parsing { () throws(UsageError) in
      try arguments.refuse(.recoveryKeyFile, with: .recoveryKey, .passcodeFD, .passcodeFile)
      try arguments.refuse(.recoveryKey, with: .passcodeFD, .passcodeFile)
    }
    guard kind == .recoveryKey else { return try givenPasscode() }
    guard let path = arguments.value(.recoveryKeyFile) else { return nil }
    return try Self.line(path: try Invocation.text(path))
  }

  /// A secret from the descriptor or the file that one of two options names.
  func secret(
    _ descriptorOption: OptionName, _ fileOption: OptionName
  ) throws(CommandError) -> SecretBytes? {
    let number = try parsing { () throws(UsageError) -> Int32? in
      try arguments.refuse(descriptorOption, with: fileOption)
      return try arguments.number(descriptorOption)
    }
    if let number { return try Self.line(descriptor: number) }
    guard let bytes = arguments.value(fileOption) else { return nil }
    return try Self.line(path: try Invocation.text(bytes))
  }

  /// What a file holds, without one newline at its end.
  static func line(path: String) throws(CommandError) -> SecretBytes {
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path)
      defer { Descriptor.close(descriptor) }
      return trimmed(try Descriptor.readAll(descriptor, limit: limit))
    } catch { throw .file(.read, path: path, errno: error.errno) }
  }

  private static func line(descriptor: Int32) throws(CommandError) -> SecretBytes {
    do throws(FileError) {
      return trimmed(try Descriptor.readAll(descriptor, limit: limit))
    } catch { throw .file(.read, path: "descriptor \(descriptor)", errno: error.errno) }
  }

  private static func trimmed(_ buffer: consuming SecretBuffer) -> SecretBytes {
    let count = buffer.count
    if count > 0, buffer.bytes[count - 1] == UInt8(ascii: "\n") { buffer.removeLast(1) }
    return buffer.finish()
  }
}

// MARK: - With a person

extension Asking {
  /// Who can be asked: a person at the terminal, else the program set for that, else nobody.
  func questioner() throws(CommandError) -> Questioner {
    // The terminal of a room shows what the room will.
    guard !arguments.has(.noInput), variables[KURA_ASKED_MARK] == nil, !isInRoom else {
      return Questioner(nil)
    }
    let prompt = try prompting { () throws(PromptError) in try Prompt.open(variables) }
    if let prompt = consume prompt { return Questioner(prompt) }
    return Questioner(AskingProgram.find(variables))
  }
}
