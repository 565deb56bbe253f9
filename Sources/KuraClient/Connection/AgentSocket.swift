// SPDX-License-Identifier: MIT

/// Names the place where an agent listens: `agent.sock` in a directory that is the user's alone.
public struct AgentSocket: Equatable, Sendable {
  /// The directory: 0700, and no symbolic link.
  public let directory: String

  /// The socket's path.
  public var path: String { directory + "/agent.sock" }

  /// A socket in another place than the usual one.
  public init(directory: String) { self.directory = directory }

  /// Where an agent that is started listens.
  public static func standard() throws(PathError) -> AgentSocket {
    AgentSocket(directory: try UserDirectory.runtime())
  }

  /// Where an agent of this user may listen, whatever of the session its starter knew: first where one that is
  /// started now does.
  public static func all() throws(PathError) -> [AgentSocket] {
    var all = [try standard()]
    for directory in [try? UserDirectory.fallbackRuntime(), UserDirectory.notedRuntime()] {
      guard let directory else { continue }
      let socket = AgentSocket(directory: directory)
      if !all.contains(socket) { all.append(socket) }
    }
    return all
  }
}

/// Tells of an agent that does not answer, as far as the system knows it.
public struct SilentAgent: Equatable, Sendable {
  /// The process that listens.
  public let processID: Int32
  /// Whether it was stopped, by a signal or a debugger.
  public let isStopped: Bool

  /// One that is known.
  public init(processID: Int32, isStopped: Bool) {
    self.processID = processID
    self.isStopped = isStopped
  }

  /// Looks for it without asking it; nil when it is not there, or somebody else listens for it.
  public static func find() -> SilentAgent? {
    for socket in (try? AgentSocket.all()) ?? [] {
      let (process, isStopped) = System.agentProcess(in: socket.directory)
      if process > 0 { return SilentAgent(processID: process, isStopped: isStopped) }
    }
    return nil
  }
}
