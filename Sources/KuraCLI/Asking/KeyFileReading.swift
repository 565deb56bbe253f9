// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

extension Asking {
  /// With fewer bytes a key file is guessable.
  private static let leastKeyFile = 32
  private static let keyFileHint =
    "it may be another file, or cut short; a key file is made of 32 to 64 random bytes"

  /// Every byte of the key file that the options name; nil where they name none. One that is new is perhaps still to be
  /// made.
  func keyFile(isNew: Bool = false) throws(CommandError) -> SecretBytes? {
    let number = try parsing { () throws(UsageError) -> Int32? in
      try arguments.refuse(.keyFile, with: .keyFileFD)
      return try arguments.number(.keyFileFD)
    }
    if let number { return try Self.keyFile(number, "descriptor \(number)") }
    guard let bytes = arguments.value(.keyFile) else { return nil }
    let path = try Invocation.text(bytes)
    let descriptor: Int32
    do throws(FileError) { descriptor = try Descriptor.open(path: path) } catch {
      throw .file(isNew ? .readNewKeyFile : .read, path: path, errno: error.errno)
    }
    defer { Descriptor.close(descriptor) }
    return try Self.keyFile(descriptor, path)
  }

  private static func keyFile(
    _ descriptor: Int32, _ name: String
  ) throws(CommandError) -> SecretBytes {
    let limit = ProtocolLimit.secret
    let content: SecretBytes
    do throws(FileError) {
      content = try Descriptor.readAll(descriptor, limit: limit).finish()
    } catch {
      guard error.errno != EFBIG else {
        throw .usage(
          "the key file " + Diagnostic.shown(name) + " has more than \(limit) bytes",
          hint: keyFileHint)
      }
      throw .file(.read, path: name, errno: error.errno)
    }
    guard content.count >= leastKeyFile else {
      throw .usage(
        "the key file " + Diagnostic.shown(name)
          + " has \(content.count) bytes, and needs 32 at least",
        hint: keyFileHint)
    }
    return content
  }

  /// Makes sure that no key file is shown where it allows nothing.
  func refuseKeyFile() throws(CommandError) {
    if arguments.has(.keyFile) || arguments.has(.keyFileFD) {
      throw .usage(
        "a key file does not allow this", hint: "it takes a passcode or the recovery key")
    }
  }

  /// Whether a script hands a passcode over.
  var hasGivenPasscode: Bool {
    arguments.has(.passcodeFD) || arguments.has(.passcodeFile)
  }
}
