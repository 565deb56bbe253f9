// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Finding the user's agent, wherever it listens, or starting it.
extension Connection {
  /// Connects to the agent that is there.
  ///
  /// - Parameter socket: Where it listens; nil for the usual place, and where none is there for the others.
  static func openRunning(
    _ vault: VaultPath, _ terminal: String, _ socket: AgentSocket?
  ) throws(ClientError) -> Connection {
    do throws(ClientError) { return try open(vault, terminal, at: try usual(socket)) } catch {
      guard error == .noAgent, socket == nil, let all = try? AgentSocket.all() else { throw error }
      for other in all.dropFirst() {
        do throws(ClientError) { return try open(vault, terminal, at: other) } catch {
          // Where others get in no agent listens; only of the usual place that is worth an error.
          guard error == .noAgent || error.isUnsafePlace else { throw error }
        }
      }
      throw .noAgent
    }
  }

  private static func usual(_ socket: AgentSocket?) throws(ClientError) -> AgentSocket {
    if let socket { return socket }
    do throws(PathError) { return try AgentSocket.standard() } catch { throw .path(error) }
  }

  private static func open(
    _ vault: VaultPath, _ terminal: String, at socket: AgentSocket
  ) throws(ClientError) -> Connection {
    try Connection(try AgentListener.connect(to: socket), about: vault, terminal, listener: socket)
  }

  /// Does something with every agent of the user: there may be one of a time before the session.
  ///
  /// - Parameters:
  ///   - vault: The vault that the requests will be about; it need not be there.
  ///   - body: Is given a connection to each, one after another.
  /// - Returns: Whether there was any.
  public static func toEachAgent(
    about vault: VaultPath, _ body: (inout Connection) throws(ClientError) -> Void
  ) throws(ClientError) -> Bool {
    let places: [AgentSocket]
    do throws(PathError) { places = try AgentSocket.all() } catch { throw .path(error) }
    var (isAny, isFirst) = (false, true)
    var failure: ClientError?
    for place in places {
      do throws(ClientError) {
        var connection = try Connection.open(vault, engine: .running, socket: place)
        _ = try connection.agentStatus()
        isAny = true
        try body(&connection)
      } catch {
        // Where others get in no agent listens; only of the first place that is worth an error.
        let isNone = error.isUnsafePlace ? !isFirst : error == .noAgent
        if failure == nil, !isNone { failure = error }
      }
      isFirst = false
    }
    if let failure { throw failure }
    return isAny
  }

  /// Connects to an agent that answers; one that is just ending is waited out.
  static func openStarting(
    _ vault: VaultPath, _ terminal: String, _ socket: AgentSocket?
  ) throws(ClientError) -> Connection {
    for _ in 0..<5 {
      var connection = try openOrStart(vault, terminal, socket)
      do throws(ClientError) {
        try connection.channel.send()
        try connection.readGreeting()
        return connection
      } catch {
        guard error == .noAgent else { throw error }
      }
    }
    throw .hungUp
  }

  /// Connects to the agent that is there, else to one started for it.
  ///
  /// A socket that a killed agent left behind answers as if there were none: the new agent takes its place.
  /// When several clients start one at once, one agent wins, and all connect to it.
  private static func openOrStart(
    _ vault: VaultPath, _ terminal: String, _ socket: AgentSocket?
  ) throws(ClientError) -> Connection {
    do throws(ClientError) { return try openRunning(vault, terminal, socket) } catch {
      guard error == .noAgent else { throw error }
    }
    do throws(ClientError) { try AgentProgram.start() } catch {
      guard case .agentFailed(let status, _) = error, status == ExitStatus.busy.rawValue else {
        throw error
      }
      return try openSoon(vault, terminal, socket)
    }
    return try openRunning(vault, terminal, socket)
  }

  /// Connects to an agent that somebody else has just started: it may not listen yet.
  private static func openSoon(
    _ vault: VaultPath, _ terminal: String, _ socket: AgentSocket?
  ) throws(ClientError) -> Connection {
    let start = Clock.boot()
    while true {
      do throws(ClientError) { return try openRunning(vault, terminal, socket) } catch {
        guard error == .noAgent, Clock.boot() - start < UInt64(Patience.standard.connecting) else {
          throw error
        }
      }
      kura_pause(20)
    }
  }
}

extension ClientError {
  fileprivate var isUnsafePlace: Bool {
    if case .agentUnsafe = self { true } else { false }
  }
}
