// SPDX-License-Identifier: MIT

import KuraFormat
import KuraVault
import SecureMemory

/// A program that opens a vault file by itself, without an agent: makes one, keeps a value in it, and reads it back.
///
///     shelf DIRECTORY
///
/// It makes `DIRECTORY/shelf.kura`, and fails where that is there already.
@main struct Shelf {
  static func main() throws {
    guard CommandLine.arguments.count == 2 else { return print("usage: shelf DIRECTORY") }
    let directory = CommandLine.arguments[1]
    let path = directory + "/shelf.kura"
    // A person would be asked.
    let passcode = try SecretBytes(copying: "seven quiet herons".utf8.span)
    // What this machine remembers of the vault: which one, how new, how many wrong tries.
    let options = VaultOptions(stateDirectory: directory)
    try make(path, options, passcode)

    var locked = try LockedVault(at: path, options: options)
    let key = try locked.attempt().open(.passcode, secret: passcode)
    var vault = try locked.unlock(with: key)
    let name = "com.example.shelf/token".utf8.span
    _ = try vault.put(
      name, value: "a value".utf8.span, attributes: AttributeEdits(), condition: .create)
    let value = try vault.value(name)
    print("kept \(value.bytes.count) bytes at \(path)")
    vault.lock().close()
  }

  static func make(
    _ path: String, _ options: VaultOptions, _ passcode: borrowing SecretBytes
  ) throws {
    let draft = try VaultDraft.make(
      at: path, options: options, passcode: passcode, kdf: KDFLimits.floor,
      wantsRecoveryKey: false)
    try draft.commit()
  }
}
