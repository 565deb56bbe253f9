// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper git`: is a credential helper of git's (gitcredentials(7)).
enum GitCredential {
  /// Answers one operation. One that is unknown is none of ours, and no error.
  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    guard invocation.arguments.operands.count > 1 else {
      throw .usage(.operandMissing("get, store or erase", verb: "helper git"))
    }
    let operation = invocation.arguments.operands[1]
    if operation.elementsEqual("get".utf8) {
      try get(&invocation)
    } else if operation.elementsEqual("store".utf8) {
      try store(invocation)
    } else if operation.elementsEqual("erase".utf8) {
      try erase(invocation)
    }
    return .ok
  }

  private static func request() throws(CommandError) -> GitRequest {
    try read(try CredentialInput.all())
  }

  private static func read(_ text: borrowing SecretBuffer) throws(CommandError) -> GitRequest {
    try GitRequest.read(text.bytes)
  }
}

// MARK: - Operations

extension GitCredential {
  private static func get(
    _ invocation: inout Invocation
  ) throws(CommandError) {
    let request = try request()
    guard let place = try request.place() else { return }
    var password = try CredentialValue()
    var refreshToken = try CredentialValue()
    let found = try invocation.access().reading(.refused).unlocked(authorizing: true) {
      connection throws(ClientError) in
      refreshToken.removeAll()
      return try find(place, &connection, &password, &refreshToken)
    }
    guard let found else { return }
    try check(found, place, password, refreshToken)
    try write("username", found.user.span, &invocation.output)
    // Whoever has a token to renew it by is told that, and not the password that is no more.
    if !found.isExpired {
      try write("password", password.bytes, &invocation.output)
      if let expiry = found.expiry {
        try write(GitPlace.expiryKey, Array("\(expiry)".utf8).span, &invocation.output)
      }
    }
    if refreshToken.bytes.count > 0 {
      try write("oauth_refresh_token", refreshToken.bytes, &invocation.output)
    }
  }

  /// Finds the best credential, and reads it.
  static func find(
    _ place: GitPlace, _ connection: inout Connection, _ password: inout CredentialValue,
    _ refreshToken: inout CredentialValue
  ) throws(ClientError) -> GitCandidate? {
    guard let best = try place.candidates(&connection).first,
      try connection.read(best.item.name, into: &password)
    else { return nil }
    _ = try connection.read(place.refreshName(of: best.user), into: &refreshToken)
    return best
  }

  private static func check(
    _ found: GitCandidate, _ place: GitPlace, _ password: borrowing CredentialValue,
    _ refreshToken: borrowing CredentialValue
  ) throws(CommandError) {
    try password.checkLine(found.item.name)
    try refreshToken.checkLine(place.refreshName(of: found.user))
    try checkUser(found)
  }

  /// Makes sure that a line can carry the user's name.
  static func checkUser(_ found: GitCandidate) throws(CommandError) {
    if found.user.contains(where: CredentialValue.endsLine) {
      throw .failure(
        "the user that " + Diagnostic.shown(found.item.name)
          + " names is not one line, so it is not handed out")
    }
  }

  private static func write(
    _ key: String, _ value: Span<UInt8>, _ output: inout Output
  ) throws(CommandError) {
    try output.write(key + "=")
    try output.write(value)
    try output.write("\n")
  }

  /// As git's own helpers do, it keeps what is whole, and says nothing of what is not.
  private static func store(
    _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let request = try request()
    guard let place = try request.place(), let user = place.user, request.hasPassword,
      !request.isEphemeral
    else { return }
    let expiry = request.expiry.map { [Attribute(key: GitPlace.expiryKey, value: $0)] } ?? []
    try invocation.access().unlocked { connection throws(ClientError) in
      try connection.keep(
        request.password.bytes, as: place.name(of: user), expiry, dropping: [GitPlace.expiryKey])
      guard request.hasRefreshToken else { return }
      try connection.keep(request.refreshToken.bytes, as: place.refreshName(of: user), [])
    }
  }

  /// Removes what fits; where git says which password was wrong, only what has that one: another
  /// may have been stored meanwhile.
  private static func erase(
    _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let request = try request()
    guard let place = try request.place() else { return }
    try invocation.access().unlocked { connection throws(ClientError) in
      for candidate in try place.candidates(&connection) {
        let name = candidate.item.name
        if request.hasPassword {
          guard try connection.holds(name, request.password.bytes) else { continue }
        }
        try connection.drop(name, ifRevision: candidate.item.facts.revision)
        try connection.drop(place.refreshName(of: candidate.user))
      }
    }
  }
}
