// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper keyring`: is the program of Python's keyring to pip, uv and whoever else runs it.
/// A password's item is `keyring/SERVICE/USER`, each part as ``NamePart`` writes it.
///
/// Callers take any status but 0 for "there is none", and go on: a missing password is status 1 and
/// no word, everything else another status and a message, which they leave to be seen.
enum KeyringFront {
  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let words = try KeyringWords(Array(invocation.arguments.operands.dropFirst()))
    guard !words.wantsHelp else {
      try invocation.output.write(help)
      return .ok
    }
    guard let verb = words.operands.first else {
      throw .usage("keyring needs an operation", hint: "it is get, set or del")
    }
    switch String(decoding: verb, as: UTF8.self) {
    case "get":
      return try get(try KeyringPlace(words, needsUser: !words.wantsUser), words, &invocation)
    case "set": return try set(try KeyringPlace(words, needsUser: true), invocation)
    case "del": return try delete(try KeyringPlace(words, needsUser: true), invocation)
    default:
      throw .usage(
        "keyring does not know the operation " + Diagnostic.quoted(verb),
        hint: "it is get, set or del")
    }
  }

  private static let help = """
    keyring: the passwords of Python's programs, from a vault of kura's
      get [--mode password|creds] [--output plain|json] SERVICE [USER]
      set SERVICE USER                 store a password, typed or from a pipe
      del SERVICE USER                 remove it
    kura-helpers(7) tells more.

    """
}

// MARK: - Operations

extension KeyringFront {
  private static func get(
    _ place: KeyringPlace, _ words: KeyringWords, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    var password = try CredentialValue()
    let found = try invocation.access().reading(.refused).unlocked(authorizing: true) {
      connection throws(ClientError) -> [UInt8]? in
      var user = place.user
      if user == nil { user = try place.lastUser(&connection) }
      guard let user, try connection.read(place.name(of: user), into: &password) else { return nil }
      return user
    }
    guard let user = found else { return .failure }
    let name = place.name(of: user)
    try password.checkText(name)
    guard words.isJSON else {
      try password.checkLine(name)
      if words.wantsUser { try write(user, name, &invocation.output) }
      try invocation.output.write(password.bytes)
      try invocation.output.write("\n")
      return .ok
    }
    try invocation.output.openObject()
    if words.wantsUser {
      guard UTF8Scanner.isText(user.span) else { throw userRefused(name, "UTF-8 text") }
      try invocation.output.member("username", bytes: user.span)
    }
    try invocation.output.member("password", bytes: password.bytes)
    try invocation.output.closeObject()
    try invocation.output.write("\n")
    return .ok
  }

  /// A user of two lines would be a user and a password.
  private static func write(
    _ user: [UInt8], _ name: String, _ output: inout Output
  ) throws(CommandError) {
    guard !user.contains(where: CredentialValue.endsLine) else {
      throw userRefused(name, "one line")
    }
    try output.write(user.span)
    try output.write("\n")
  }

  private static func userRefused(_ name: String, _ what: String) -> CommandError {
    .failure(
      "the user that " + Diagnostic.shown(name) + " names is not " + what
        + ", so it is not handed out")
  }

  private static func set(
    _ place: KeyringPlace, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let user = place.user ?? []
    let name = place.name(of: user)
    let text = try password(of: user, place, invocation)
    // What was to write it has failed, or a person pressed Enter.
    guard text.count > 0 else {
      throw .failure("no password was given, and nothing is stored")
    }
    guard UTF8Scanner.isText(text.bytes) else {
      throw .failure("the password is not UTF-8 text, and nothing is stored")
    }
    try invocation.access().unlocked { connection throws(ClientError) in
      try connection.keep(text.bytes, as: name, [])
    }
    return .ok
  }

  /// A password that is typed, or stands on stdin.
  private static func password(
    of user: [UInt8], _ place: KeyringPlace, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    guard !kura_is_terminal(0) else {
      let question =
        "Password for " + Diagnostic.quoted(user) + " in " + Diagnostic.quoted(place.service)
      let typed = try Asking(invocation.arguments, invocation.variables)
        .typed([question + ": "], isHidden: true)
      return try PassWriting.text(typed)
    }
    var text = try CredentialInput.all()
    let count = text.count
    if count > 0, text.bytes[count - 1] == UInt8(ascii: "\n") { text.removeLast(1) }
    return text
  }

  private static func delete(
    _ place: KeyringPlace, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let name = place.name(of: place.user ?? [])
    let isThere = try invocation.access().unlocked { connection throws(ClientError) -> Bool in
      guard try connection.found(name) != nil else { return false }
      try connection.drop(name)
      return true
    }
    guard isThere else {
      throw .failure("there is no password to remove: no item is named " + Diagnostic.shown(name))
    }
    return .ok
  }
}
