// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Finds where an agent's files are: the XDG base directories, relative values ignored.
public struct Places: Equatable, Sendable {
  /// `$XDG_STATE_HOME/kura`: the newest state seen of each vault.
  public let state: String

  /// Where the socket stands.
  public let socket: String

  /// Where another agent of this user may listen, which knew less of the session.
  public let others: [String]

  /// Finds the places by the environment.
  ///
  /// - Parameters:
  ///   - variable: Looks a variable up.
  ///   - system: What the system says of the user where variables do not.
  /// - Throws: ``AgentError/noDirectory`` without `HOME` and `XDG_STATE_HOME`.
  init(
    _ variable: (String) -> String?, system: UserRecord = UserRecord()
  ) throws(AgentError) {
    func absolute(_ name: String) -> String? {
      guard let value = variable(name), value.utf8.first == UInt8(ascii: "/") else { return nil }
      return value
    }
    let home = absolute("HOME")
    guard
      let base = absolute("XDG_STATE_HOME") ?? (home ?? system.home()).map({ $0 + "/.local/state" })
    else { throw .noDirectory }
    state = base + "/kura"
    let fallback = state + "/run"
    if let session = absolute("XDG_RUNTIME_DIR") ?? system.session(home) {
      socket = session + "/kura"
      others = socket == fallback ? [] : [fallback]
    } else {
      (socket, others) = (fallback, [])
    }
  }

  /// Finds the places by the process's environment.
  public static func standard() throws(AgentError) -> Places {
    for name in ["HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] where !isText(name) {
      throw .notText(name)
    }
    return try Places { name in
      unsafe getenv(name).map { value in unsafe String(cString: value) }
    }
  }

  /// Whether a variable's value is UTF-8: by force made so, it would be another place.
  private static func isText(_ name: String) -> Bool {
    guard let value = unsafe getenv(name) else { return true }
    return unsafe String(validatingCString: value) != nil
  }
}

/// Tells what the system knows of this process's user, as the client looks it up, too.
struct UserRecord {
  /// The home directory by passwd(5).
  var home: () -> String? = UserRecord.passwdHome

  /// `/run/user/UID`, where HOME does not say that somebody wants places of their own.
  var session: (String?) -> String? = UserRecord.sessionDirectory

  private static func passwdHome() -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      guard let start = room.baseAddress else { return 0 }
      return unsafe kura_passwd_home(start, room.count)
    }
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  private static func sessionDirectory(home: String?) -> String? {
    guard let home else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      guard let start = room.baseAddress else { return 0 }
      return unsafe kura_session_directory(home, start, room.count)
    }
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
