// SPDX-License-Identifier: MIT

/// Where an agent listens: `agent.sock` in a directory that is the user's alone.
public struct AgentSocket: Equatable, Sendable {
  /// The directory: 0700, and no symbolic link.
  public let directory: String

  /// The socket's path.
  public var path: String { directory + "/agent.sock" }

  /// A socket in another place than the usual one.
  public init(directory: String) { self.directory = directory }

  /// `$XDG_RUNTIME_DIR/kura`, else `$XDG_STATE_HOME/kura/run`.
  public static func standard() throws(PathError) -> AgentSocket {
    AgentSocket(directory: try UserDirectory.runtime())
  }
}
