// SPDX-License-Identifier: MIT

public import KuraProtocol

/// Says whose turn it is to ask a person for the vault's passcode.
public enum PromptTurn: Equatable, Sendable {
  /// This client's.
  case ours
  /// Another one's, which asks at a place: a terminal or a program, in words for people.
  case elsewhere(String)
  /// Nobody's any more: the vault is unlocked, and the connection takes requests again.
  case unlocked
}

extension Connection {
  /// Asks for the turn to ask a person: a vault has one prompt at a time.
  ///
  /// Until ``PromptTurn/unlocked`` the connection takes only ``say(_:)-(PromptWord)``, ``nextTurn()``, ``status()`` and
  /// ``unlock(_:secret:idleTimeout:maxSession:acceptRollback:acceptExchange:authorizing:for:revision:)``; ``watched`` has
  /// something to read when the turn has changed. An unlock ends it, a refused one does not. The
  /// connection's end gives the turn away.
  ///
  /// - Parameters:
  ///   - place: Where this client would ask, for people at other prompts to read.
  ///   - seesKeys: Whether it will say when a key was pressed.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.cancelled` a moment after a cancel, and
  ///   with `Failure.unsupported` by an agent that does not know of turns.
  public mutating func beginPrompt(
    at place: String, seesKeys: Bool
  ) throws(ClientError) -> PromptTurn {
    let name = Self.shortened(place)
    try send(.prompt(PromptRequest(at: name.span, flags: seesKeys ? .seesKeys : [])))
    isPrompting = true
    return try nextTurn()
  }

  /// Reads whose turn it is now, the newest of what has come.
  ///
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.cancelled` when somebody cancelled.
  public mutating func nextTurn() throws(ClientError) -> PromptTurn {
    let kept = news.take()
    var turn = if let kept { kept } else { try readTurn() }
    while isAhead, turn != .unlocked { turn = try readTurn() }
    return turn
  }

  /// Whether the turn has changed while something else was answered.
  public var hasTurnNews: Bool { news != nil || isPrompting && isAhead }

  /// Says something about the prompt that is shown or waited for.
  public mutating func say(_ word: PromptWord) throws(ClientError) {
    try channel.send { output throws(ProtocolError) in try output.putPromptWord(word) }
  }

  private mutating func readTurn() throws(ClientError) -> PromptTurn {
    try turn(in: try channel.next(patience: patience.answer))
  }

  /// Whose turn it is by a frame; after an end it is nobody's.
  mutating func turn(in frame: Frame) throws(ClientError) -> PromptTurn {
    guard frame.type == .data else {
      isPrompting = false
      try accept(frame)
      guard frame.type == .end else { throw .broken(.frameType(frame.type.rawValue)) }
      return .unlocked
    }
    let payload = received.extracting(frame.payload)
    switch try reading({ () throws(ProtocolError) in try PromptNews(payload) }) {
    case .yours: return .ours
    case .elsewhere(let place): return .elsewhere(String(repairing: payload.extracting(place)))
    }
  }

  /// As many whole characters of a text as a place may have.
  private static func shortened(_ place: String) -> [UInt8] {
    var name: [UInt8] = []
    for scalar in place.unicodeScalars {
      let bytes = Array(String(Character(scalar)).utf8)
      guard name.count + bytes.count <= ProtocolLimit.terminal else { break }
      name += bytes
    }
    return name
  }
}
