// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Has gpg encrypt texts to the keys that a store of pass's is for.
struct Encryption {
  /// As they are given to gpg.
  let recipients: [String]
  private let program: String

  /// How long gpg may take for anything, in ms.
  private static let patience: Int32 = 60_000

  /// Finds gpg, and the keys.
  ///
  /// - Parameter given: Keys; empty: those of the store that pass uses.
  static func find(
    _ given: [String], _ variables: Variables
  ) throws(CommandError) -> Encryption {
    let path = variables["PATH"]
    guard let program = Program.look(for: "gpg", path) ?? Program.look(for: "gpg2", path) else {
      throw .failure(
        "there is no gpg on this machine", hint: "the package gnupg has it; pass needs it, too")
    }
    let recipients = given.isEmpty ? try storeKeys(variables) : given
    guard !recipients.isEmpty else {
      throw .usage(
        "nothing says for which key the store is to be",
        hint: "--recipient KEY does, or the .gpg-id of the store that pass uses")
    }
    return Encryption(recipients: recipients, program: program)
  }

  /// The keys of the store that is there.
  private static func storeKeys(_ variables: Variables) throws(CommandError) -> [String] {
    var folder = try variables.name("PASSWORD_STORE_DIR") ?? ""
    if folder.utf8.isEmpty || folder.utf8.starts(with: "kura://".utf8) {
      guard let home = try variables.name("HOME") else { return [] }
      folder = home + "/.password-store"
    }
    let path = folder + "/.gpg-id"
    guard System.fileKind(path) == KURA_REGULAR else { return [] }
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path)
      defer { Descriptor.close(descriptor) }
      let text = try Descriptor.readAll(descriptor, limit: 65_536)
      return keys(Array(copying: text.bytes))
    } catch { throw .file(.read, path: path, errno: error.errno) }
  }

  /// The keys that a `.gpg-id` names: one a line, comments behind `#`.
  static func keys(_ text: [UInt8]) -> [String] {
    var keys: [String] = []
    for line in text.split(separator: UInt8(ascii: "\n")) {
      var key = line.prefix { $0 != UInt8(ascii: "#") }
      while let last = key.last, last <= 0x20 { key.removeLast() }
      key = key.drop { $0 <= 0x20 }
      if !key.isEmpty { keys.append(String(decoding: key, as: UTF8.self)) }
    }
    return keys
  }

  /// Writes a text to a new file.
  func write(_ text: Span<UInt8>, to path: String) throws(CommandError) {
    // A key that is not here is not looked for elsewhere.
    var words = [
      "gpg", "--batch", "--no-tty", "--quiet", "--yes", "--no-auto-key-locate", "--no-encrypt-to",
      "--compress-algo", "none",
    ]
    for key in recipients { words += ["--recipient", key] }
    words += ["--output", path, "--encrypt"]
    guard
      let child = System.startClipboard(
        program, words, end: Int32(KURA_CLIP_FEEDS), directory: nil)
    else { throw failure }
    let isSent = Self.send(text, to: child.descriptor)
    kura_socket_close(child.descriptor)
    let status = kura_child_wait(child.process, Self.patience)
    if status == -ETIMEDOUT { kura_clip_end(child.process) }
    guard status == 0, isSent else { throw failure }
  }

  private var failure: CommandError {
    let keys = recipients.map { Diagnostic.shown($0) }.joined(separator: ", ")
    return .failure(
      "gpg did not encrypt to " + keys,
      hint:
        "'gpg --encrypt --recipient KEY' says why: is each key known, valid and trusted, and is there room?"
    )
  }

  private static func send(_ text: Span<UInt8>, to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < text.count {
      let count = System.send(
        text.extracting(droppingFirst: sent), to: descriptor, patience: patience)
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
