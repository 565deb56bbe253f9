// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura attr`: changes what stands beside a value.
enum Attr {
  static let command = Command(
    "attr", [.init("NAME"), .init("KEY=VALUE", .any)],
    abstract: "set or delete an item's attributes",
    options: [
      Option(.delete, letter: "d", .required("KEY"), help: "delete an attribute; may be repeated"),
      Option(.secret, .required("KEY"), help: "set one that is as secret as the value"),
      Option(.stdin, help: "read its value from stdin"),
      Option(.file, .required("FILE"), help: "read its value from FILE"),
      Option.ifRevision,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let name = try invocation.operand(0)
    if arguments.has(.secret) { return try setSecret(of: name, invocation) }
    let deleted = arguments.values(.delete)
    let (pairs, revision) = try parsing { () throws(UsageError) in
      if arguments.has(.stdin) || arguments.has(.file) {
        throw UsageError(
          "--stdin and --file give the value of a secret attribute",
          hint: "name it with --secret KEY")
      }
      if arguments.operands.count == 1, deleted.isEmpty {
        throw UsageError(
          "attr was given nothing to change",
          hint: "give KEY=VALUE or -d KEY; 'kura show NAME' lists attributes")
      }
      return (
        try AttributePair.all(arguments.operands.dropFirst(), besides: deleted),
        try arguments.number(.ifRevision, as: UInt64.self) ?? 0
      )
    }
    var set: [Attribute] = []
    for pair in pairs { set.append(try pair.attribute()) }
    var delete: [String] = []
    for key in deleted { delete.append(try Invocation.text(key)) }
    _ = try invocation.access().unlocked { connection throws(ClientError) in
      try connection.setAttributes(of: name, set: set, delete: delete, ifRevision: revision)
    }
    return .ok
  }
}

// MARK: - Secret ones

extension Attr {
  private static func setSecret(
    of name: String, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    guard let key = try invocation.text(.secret) else { return .ok }
    let revision = try parsing { () throws(UsageError) in
      try arguments.refuse(.secret, with: .delete)
      try arguments.refuse(.stdin, with: .file)
      guard arguments.operands.count == 1 else {
        throw UsageError(
          "a secret attribute is set alone, and its value is no argument",
          hint: "give --stdin, or --file FILE, or type it")
      }
      if arguments.has(.stdin), try arguments.number(.passcodeFD, as: Int32.self) == 0 {
        throw UsageError(
          "the passcode and the value cannot both come from stdin",
          hint: "give the passcode with --passcode-file, or the value with --file")
      }
      return try arguments.number(.ifRevision, as: UInt64.self) ?? 0
    }
    let access = try invocation.access()
    var held = Held()
    // Before anything is typed: that there is such an item.
    try access.unlocked(holding: &held) { connection throws(ClientError) in
      _ = try connection.show(name)
    }
    let value = try value(of: key, in: name, access, invocation)
    let copy = try access.unlocked(holding: &held) { connection throws(ClientError) in
      try connection.setSecret(key, of: name, to: value.bytes, ifRevision: revision)
    }
    if let copy {
      invocation.messages.note(takenOver(copy))
    }
    return .ok
  }

  /// What is said of a vault that was taken over.
  static func takenOver(_ copy: String) -> String {
    "the vault has format 2 now, which releases before 0.2.0 cannot open; a copy of it as it was is "
      + Diagnostic.shown(copy)
  }

  private static func value(
    of key: String, in name: String, _ access: VaultAccess, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBytes {
    let path = try invocation.text(.file)
    guard path != nil || invocation.arguments.has(.stdin) || !kura_is_terminal(0) else {
      var questioner = try access.asking.questioner()
      let question = Diagnostic.shown(key) + " of " + Diagnostic.shown(name) + ": "
      guard let typed = try questioner.prompt?.twice(question, .value, allowsEmpty: false) else {
        throw .noInteraction(.value)
      }
      return typed
    }
    do throws(FileError) {
      let descriptor = try path.map { path throws(FileError) in try Descriptor.open(path: path) }
      defer { if let descriptor { Descriptor.close(descriptor) } }
      var text = try Descriptor.readAll(descriptor ?? 0, limit: ProtocolLimit.inlineValue)
      // What a line holds is its text.
      if text.count > 0, text.bytes[text.count - 1] == 0x0A { text.removeLast(1) }
      return text.finish()
    } catch { throw .file(.read, path: path ?? "stdin", errno: error.errno) }
  }
}

extension AttributePair {
  /// The same with a key that is text.
  func attribute() throws(CommandError) -> Attribute {
    Attribute(key: try Invocation.text(key), value: value)
  }
}
