// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Reads what git says to a credential helper: lines of `KEY=VALUE` up to an empty line or the end
/// (git-credential(1), "Input/output format").
///
/// Lines end in a newline and nothing else. A NUL or a carriage return anywhere is refused, since
/// readers disagree about them (CVE-2020-5260, CVE-2024-50338, CVE-2024-52006).
struct GitRequest: ~Copyable {
  private(set) var scheme: [UInt8]?
  private(set) var host: [UInt8]?
  private(set) var path: [UInt8]?
  private(set) var user: [UInt8]?
  /// Seconds of Unix time, in decimal digits.
  private(set) var expiry: [UInt8]?
  private(set) var password: SecretBytes
  private(set) var hasPassword = false
  private(set) var refreshToken: SecretBytes
  private(set) var hasRefreshToken = false
  /// Whether git wants the credential forgotten with the command.
  private(set) var isEphemeral = false
  private var seen: [[UInt8]] = []

  /// Reads a request.
  static func read(_ text: Span<UInt8>) throws(CommandError) -> GitRequest {
    var request = GitRequest(password: try secret(Span()), refreshToken: try secret(Span()))
    var line = 1
    var start = 0
    while start < text.count {
      var end = start
      while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
      guard end > start else { break }
      try request.take(text.extracting(start..<end), line)
      line += 1
      start = end + 1
    }
    return request
  }

  private init(password: consuming SecretBytes, refreshToken: consuming SecretBytes) {
    self.password = password
    self.refreshToken = refreshToken
  }

  private mutating func take(_ text: Span<UInt8>, _ line: Int) throws(CommandError) {
    var equals: Int?
    for index in text.indices {
      if CredentialValue.endsLine(text[index]) { throw .controlByte(line: line) }
      if equals == nil, text[index] == UInt8(ascii: "=") { equals = index }
    }
    guard let equals, equals > 0 else {
      throw .failure("line \(line) of the request is not KEY=VALUE")
    }
    var key: [UInt8] = []
    for index in 0..<equals { key.append(text[index]) }
    try take(key, text.extracting((equals + 1)..<text.count), line)
  }

  private mutating func take(
    _ key: [UInt8], _ value: Span<UInt8>, _ line: Int
  ) throws(CommandError) {
    guard let field = Field(key) else { return }
    if seen.contains(key) {
      throw .failure(
        "line \(line) of the request says something twice", hint: "nothing was handed out")
    }
    seen.append(key)
    switch field {
    case .scheme: scheme = Self.array(value)
    case .host: host = Self.array(value)
    case .path: path = Self.array(value)
    case .user: user = Self.array(value)
    case .expiry: expiry = Self.array(value)
    case .ephemeral: isEphemeral = !(value.count == 1 && value[0] == UInt8(ascii: "0"))
    case .password:
      password = try Self.secret(value)
      hasPassword = true
    case .refreshToken:
      refreshToken = try Self.secret(value)
      hasRefreshToken = true
    }
  }

  private static func array(_ value: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in value.indices { bytes.append(value[index]) }
    return bytes
  }

  private static func secret(_ value: Span<UInt8>) throws(CommandError) -> SecretBytes {
    try allocating { () throws(SecureMemoryError) in try SecretBytes(copying: value) }
  }
}

// MARK: - Keys

extension GitRequest {
  /// Lists the keys that mean something here; any other is ignored, as git asks of helpers.
  private enum Field: CaseIterable {
    case scheme, host, path, user, password, expiry, refreshToken, ephemeral

    init?(_ key: [UInt8]) {
      guard let field = Self.allCases.first(where: { key.elementsEqual($0.key.utf8) }) else {
        return nil
      }
      self = field
    }

    private var key: String {
      switch self {
      case .scheme: "protocol"
      case .host: "host"
      case .path: "path"
      case .user: "username"
      case .password: "password"
      case .expiry: GitPlace.expiryKey
      case .refreshToken: "oauth_refresh_token"
      case .ephemeral: "ephemeral"
      }
    }
  }
}

// MARK: - What it is about

extension GitRequest {
  /// What the request is about; nil for an empty host, which nothing is known of
  /// (CVE-2020-11008: it must not mean any host).
  func place() throws(CommandError) -> GitPlace? {
    guard let scheme, !scheme.isEmpty else { throw .requestLacks("protocol") }
    guard let host else { throw .requestLacks("host") }
    guard !host.isEmpty else { return nil }
    return GitPlace(scheme: scheme, host: host, path: path, user: user)
  }
}
