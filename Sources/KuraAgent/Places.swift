// SPDX-License-Identifier: MIT

internal import Glibc

/// Where an agent's files are: the XDG base directories, relative values ignored.
public struct Places: Equatable, Sendable {
  /// `$XDG_STATE_HOME/kura`: the newest state seen of each vault.
  public let state: String

  /// Where the socket stands.
  public let socket: String

  /// Places of a test's own.
  public init(state: String, socket: String) {
    self.state = state
    self.socket = socket
  }

  /// Finds the places by the environment.
  ///
  /// - Parameter variable: Looks a variable up.
  /// - Throws: ``AgentError/noDirectory`` without `HOME` and `XDG_STATE_HOME`.
  public init(_ variable: (String) -> String?) throws(AgentError) {
    func absolute(_ name: String) -> String? {
      guard let value = variable(name), value.utf8.first == UInt8(ascii: "/") else { return nil }
      return value
    }
    guard let home = absolute("XDG_STATE_HOME") ?? absolute("HOME").map({ $0 + "/.local/state" })
    else { throw .noDirectory }
    state = home + "/kura"
    socket = absolute("XDG_RUNTIME_DIR").map { $0 + "/kura" } ?? state + "/run"
  }

  /// Finds the places by the process's environment.
  public static func standard() throws(AgentError) -> Places {
    try Places { name in
      unsafe getenv(name).map { value in unsafe String(cString: value) }
    }
  }
}
