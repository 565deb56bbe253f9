// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Finds somebody at the agent's socket.
enum AgentListener {
  /// Connects to the agent that is there.
  static func connect(
    to socket: AgentSocket, patience: Patience = .standard
  ) throws(ClientError) -> Channel {
    let descriptor = unsafe kura_agent_connect(socket.directory, patience.connecting)
    if descriptor >= 0 { return try Channel.make(descriptor: descriptor) }
    switch descriptor {
    case -ENOENT, -ECONNREFUSED: throw .noAgent
    case -ETIMEDOUT: throw .timedOut
    case Int32(KURA_DIRECTORY_UNSAFE), Int32(KURA_PEER_FOREIGN):
      throw .agentUnsafe(directory: socket.directory)
    default: throw .system(-descriptor)
    }
  }

  /// Connects to the agent that is there, else to one started for it.
  ///
  /// A socket that a killed agent left behind answers as if there were none: the new agent takes
  /// its place. When several clients start one at once, one agent wins, and all connect to it.
  static func connectStarting(to socket: AgentSocket) throws(ClientError) -> Channel {
    do throws(ClientError) {
      return try connect(to: socket)
    } catch {
      guard error == .noAgent else { throw error }
    }
    do throws(ClientError) {
      try AgentProgram.start()
    } catch {
      guard case .agentFailed(let status, _) = error, status == ExitStatus.busy.rawValue else {
        throw error
      }
      return try connectSoon(to: socket)
    }
    return try connect(to: socket)
  }

  /// Waits a second for an agent that hung up: one that ends still takes connections for a moment.
  ///
  /// - Throws: ``ClientError/noAgent`` when it is gone. It returns when somebody still listens.
  static func awaitEnd(at socket: AgentSocket) throws(ClientError) {
    for _ in 0..<50 {
      try connect(to: socket).end()
      kura_pause(20)
    }
  }

  /// Connects to an agent that somebody else has just started: it may not listen yet.
  private static func connectSoon(
    to socket: AgentSocket, patience: Patience = .standard
  ) throws(ClientError) -> Channel {
    let start = Clock.boot()
    while true {
      do throws(ClientError) {
        return try connect(to: socket)
      } catch {
        guard error == .noAgent, Clock.boot() - start < UInt64(patience.connecting) else {
          throw error
        }
      }
      kura_pause(20)
    }
  }
}
