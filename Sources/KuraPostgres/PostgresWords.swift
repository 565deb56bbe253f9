// SPDX-License-Identifier: MIT

internal import KuraStore

/// Tells what an error of the server's, or of libpq's, means.
enum PostgresWords {
  /// Why there is no connection: libpq has no code for it, and words alone.
  static func error(ofConnecting text: String, to place: String) -> StoreError {
    let said = line(text)
    let words = text.lowercased()
    func has(_ signs: String...) -> Bool { signs.contains { words.contains($0) } }
    if has("certificate", "ssl error", "server does not support ssl", "sslrootcert") {
      return .untrusted(path: place, said: said)
    }
    if has(
      "authentication failed", "no pg_hba.conf entry", "no password supplied",
      "role \"", "permission denied", "peer authentication")
    {
      return .refused(path: place, said: said)
    }
    if has(
      "connection refused", "could not translate host name", "timeout expired",
      "no such file or directory", "unreachable", "no route to host",
      "server closed the connection",
      "starting up", "shutting down", "too many", "timed out", "reset by peer")
    {
      return .unreachable(path: place, said: said)
    }
    return .other(path: place, said: said)
  }

  /// Why a statement was not done.
  ///
  /// - Parameters:
  ///   - code: The server's, five characters; nil where it is gone.
  ///   - isGone: Whether the connection is no more.
  static func error(
    code: String?, isGone: Bool, _ text: String, at place: String
  ) -> StoreError {
    let said = line(text)
    switch code {
    case "42P01", "42703", "3F000": return .unprepared(path: place)
    case "42501": return .refused(path: place, said: said)
    case "25006": return .readOnly(path: place)
    case "53100", "54000": return .full(path: place)
    case .none:
      return isGone ? .unreachable(path: place, said: said) : .other(path: place, said: said)
    case .some(let code):
      // An administrator, or a crash, ends it; or the connection is broken.
      let isEnd = code.hasPrefix("57P") || code.hasPrefix("08")
      return isGone || isEnd
        ? .unreachable(path: place, said: said) : .other(path: place, said: said)
    }
  }

  /// The first line, without what says how bad it is.
  private static func line(_ text: String) -> String {
    var line = text.split(separator: "\n").first.map(String.init) ?? ""
    for word in ["ERROR:", "FATAL:", "PANIC:"] {
      if let range = line.firstRange(of: word) { line.removeSubrange(range) }
    }
    return line.split(separator: " ").joined(separator: " ")
  }
}
