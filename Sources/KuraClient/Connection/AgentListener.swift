// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Finds somebody at the agent's socket.
enum AgentListener {
  /// Connects to the agent that is there.
  static func connect(
    to socket: AgentSocket, patience: Patience = .standard
  ) throws(ClientError) -> Channel {
    let descriptor = System.connectAgent(
      in: socket.directory, patience: patience.connecting)
    if descriptor >= 0 { return try Channel.make(descriptor: descriptor) }
    switch descriptor {
    case -ENOENT, -ECONNREFUSED: throw .noAgent
    case -ETIMEDOUT: throw .timedOut
    case Int32(KURA_DIRECTORY_UNSAFE), Int32(KURA_PEER_FOREIGN):
      throw .agentUnsafe(directory: socket.directory)
    default: throw .agentUnreachable(directory: socket.directory, errno: -descriptor)
    }
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
}
