// SPDX-License-Identifier: MIT

internal import CKuraSystem
public import KuraProtocol
internal import SecureMemory

/// Talks with an agent about one vault: any number of requests, one after another.
///
/// After ``ClientError/timedOut``, ``ClientError/hungUp``, ``ClientError/broken(_:)``,
/// ``ClientError/input(_:)``, ``ClientError/output(_:)`` or an error of a callback's own it is of
/// no further use: the agent may be in the middle of an answer. After
/// ``ClientError/refused(_:)`` it goes on.
///
/// Its end closes the connection; an engine of its own is waited for, so that what it keeps of
/// this command is written when the command ends.
public struct Connection: ~Copyable {
  var channel: Channel
  private var isGreeted = false
  /// Whether it has or awaits its turn to ask, so that news of that may come before an answer.
  var isPrompting = false
  /// News of the turn that came before an answer.
  var news: PromptTurn?
  /// Where an agent listens that was there before: it may be just ending.
  private let listener: AgentSocket?

  /// The agent's release, once it has answered.
  public private(set) var release = ""

  /// Takes a channel over; the hello goes with what is sent first.
  init(
    _ channel: consuming Channel, about vault: VaultPath, _ terminal: String,
    listener: AgentSocket? = nil
  ) throws(ClientError) {
    var channel = channel
    do throws(ProtocolError) {
      try channel.output.putHello(vault: vault.path.utf8.span, terminal: terminal.utf8.span)
    } catch {
      channel.end()
      throw ClientError(writing: error)
    }
    self.channel = channel
    self.listener = listener
  }

  deinit { channel.end() }

  /// Connects, and makes sure that it is the user's own agent.
  ///
  /// To an agent that is there already nothing is sent yet: the hello goes with the first request.
  /// An engine that was to be started hears it at once, since a person may be asked for a passcode
  /// before the first request, for longer than an agent waits for a hello.
  ///
  /// - Parameters:
  ///   - vault: The vault that the requests will be about; it need not be there.
  ///   - engine: Who shall answer.
  ///   - terminal: The name of the client's terminal, such as `pts/3`; empty for none.
  ///   - socket: Where an agent listens; nil for all the usual places. A started agent goes to the first.
  /// - Throws: ``ClientError/noAgent`` when nobody listens and none was to be started.
  public static func open(
    _ vault: VaultPath, engine: Engine, terminal: String = "", socket: AgentSocket? = nil
  ) throws(ClientError) -> Connection {
    switch engine {
    case .own, .aside:
      let channel = try AgentProgram.startOwn(isAside: engine == .aside)
      var connection = try Connection(channel, about: vault, terminal)
      try connection.channel.send()
      return connection
    case .running: return try openRunning(vault, terminal, socket)
    case .started: return try openStarting(vault, terminal, socket)
    }
  }

  /// Speaks over a socket that is connected already, and closes it at its end.
  ///
  /// - Parameters:
  ///   - descriptor: A stream socket that does not block; its other end is trusted.
  ///   - vault: The vault that the requests will be about; it need not be there.
  ///   - terminal: The name of the client's terminal; empty for none.
  public static func over(
    descriptor: Int32, vault: VaultPath, terminal: String = ""
  ) throws(ClientError) -> Connection {
    try over(descriptor: descriptor, vault: vault, terminal: terminal, patience: .standard)
  }

  static func over(
    descriptor: Int32, vault: VaultPath, terminal: String, patience: Patience
  ) throws(ClientError) -> Connection {
    try Connection(
      try Channel.make(descriptor: descriptor, patience: patience), about: vault, terminal)
  }

  /// Has no answer, and no part of one, be waited for longer from now on; else the longest waits are of minutes.
  ///
  /// - Parameter milliseconds: What comes later is ``ClientError/timedOut``: whether it was done is not known.
  public mutating func limit(milliseconds: Int32) { channel.patience.limit(to: milliseconds) }

  /// Ends the conversation; an engine of its own has ended, too, when this returns.
  public consuming func close() {}
}

// MARK: - One request

extension Connection {
  /// What was received: positions of a frame's payload are positions in it.
  var received: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { channel.received }
  }

  /// How long the agent may keep this client waiting.
  var patience: Patience { channel.patience }

  /// What a poll(2) watches for the agent's next word; it stays the connection's.
  public var watched: Int32 { channel.watched }

  /// Whether the agent has said something that was not yet read.
  var hasNews: Bool { channel.hasNews }

  /// Whether the agent has ended the conversation, where it has nothing to answer.
  public var isCut: Bool { hasNews }

  /// Whether a part of that is here already, where no poll(2) sees it.
  var isAhead: Bool { channel.isAhead }

  /// Makes room for a long value on its way to the agent.
  func widen() { channel.widen() }

  /// Sends a request, and reads what its answer says beside yes.
  ///
  /// - Parameters:
  ///   - request: One that is answered by a reply alone.
  ///   - patience: How long the answer is waited for, in ms; nil for what does not take long.
  /// - Throws: ``ClientError/refused(_:)`` with the agent's reason, among others.
  public mutating func ask<Answer: Message>(
    _ request: borrowing Request, patience: Int32? = nil
  ) throws(ClientError) -> Answer {
    try send(request)
    return try reply(patience: patience)
  }

  /// Reads what an answer says beside yes.
  mutating func reply<Answer: Message>(patience: Int32? = nil) throws(ClientError) -> Answer {
    let payload = try answer(patience: patience)
    do throws(ProtocolError) { return try Answer(reply: received(payload)) } catch {
      throw .broken(error)
    }
  }

  /// Sends a request; an agent greets before it begins on anything long, one that was stopped never does.
  mutating func send(_ request: borrowing Request) throws(ClientError) {
    let request = copy request
    try channel.send { output throws(ProtocolError) in try output.putRequest(request) }
    if !isGreeted { try readGreeting() }
  }

  /// The payload of a reply or end that says yes.
  ///
  /// - Throws: ``ClientError/refused(_:)`` when it says no.
  mutating func answer(
    _ type: FrameType = .reply, patience: Int32? = nil
  ) throws(ClientError) -> Range<Int> {
    var frame = try channel.next(patience: patience ?? self.patience.answer)
    var cancel: ClientError?
    while isPrompting, frame.type == .data || frame.type == .end {
      do throws(ClientError) { news = try turn(in: frame) } catch {
        // What it is the answer to comes first: it may be done.
        guard case .refused = error else { throw error }
        cancel = error
      }
      frame = try channel.next(patience: patience ?? self.patience.answer)
    }
    guard frame.type == type else { throw .broken(.frameType(frame.type.rawValue)) }
    do throws(ClientError) { try accept(frame) } catch { throw cancel ?? error }
    return frame.payload
  }

  /// Makes sure that a reply or an end says yes.
  func accept(_ frame: Frame) throws(ClientError) {
    let payload = received.extracting(frame.payload)
    let reply: Reply
    do throws(ProtocolError) { reply = try Reply(payload) } catch { throw .broken(error) }
    if case .refused(let refusal) = reply { throw .refused(refusal) }
  }

  mutating func readGreeting() throws(ClientError) {
    let frame = try firstFrame()
    // An agent that has no place left says so before any hello.
    if frame.type == .reply { try accept(frame) }
    guard frame.type == .agentHello else { throw .broken(.frameType(frame.type.rawValue)) }
    let version = try greet(frame)
    guard version == ProtocolVersion.current else {
      throw .otherVersion(version: version, release: release)
    }
    isGreeted = true
  }

  /// The first frame of the first answer.
  ///
  /// - Throws: ``ClientError/noAgent`` when the agent hung up before its hello and is gone now.
  private mutating func firstFrame() throws(ClientError) -> Frame {
    do throws(ClientError) {
      return try channel.next(patience: patience.answer)
    } catch {
      if let listener, error == .hungUp, received.isEmpty {
        try AgentListener.awaitEnd(at: listener)
      }
      throw error
    }
  }

  /// Keeps what a hello tells; its version.
  private mutating func greet(_ frame: Frame) throws(ClientError) -> UInt16 {
    let hello = try reading { () throws(ProtocolError) in
      try HelloReply(received.extracting(frame.payload))
    }
    release = String(repairing: received.extracting(frame.payload).extracting(hello.release))
    return hello.version
  }
}
