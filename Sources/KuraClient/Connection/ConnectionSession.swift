// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

extension Connection {
  /// Tells whether the vault is unlocked, and all that goes with it.
  public mutating func status() throws(ClientError) -> StatusReport {
    try send(.status)
    let payload = received(try answer())
    return try reading { () throws(ProtocolError) in try StatusReport(payload) }
  }

  /// Unlocks the vault.
  ///
  /// - Parameters:
  ///   - kind: What the secret is.
  ///   - secret: As typed, or the bytes of a key file; prepared by the agent.
  ///   - idleTimeout: In ms; 0 = the vault's policy.
  ///   - maxSession: In ms; 0 = the vault's policy.
  ///   - acceptRollback: Take the vault although it is older than one seen before.
  ///   - acceptExchange: Take the vault although another one was last unlocked at its path.
  ///   - authorizing: Whether this serves as ``authorize(_:secret:for:revision:)``, too, where the slot holds what
  ///     that takes.
  ///   - names: As there.
  ///   - revision: As there.
  public mutating func unlock(
    _ kind: Credential, secret: borrowing SecretBytes, idleTimeout: UInt64 = 0,
    maxSession: UInt64 = 0, acceptRollback: Bool = false,
    acceptExchange: Bool = false, authorizing: Bool = false, for names: [String] = [],
    revision: UInt64 = 0
  ) throws(ClientError) -> Notice {
    let list = try Self.list(names)
    var flags: UnlockRequest.Flags = acceptRollback ? .acceptRollback : []
    if acceptExchange { flags.insert(.acceptExchange) }
    if authorizing { flags.insert(.authorize) }
    let reply: UnlockReply = try ask(
      .unlock(
        UnlockRequest(
          kind, secret: secret.bytes, idleTimeout: idleTimeout, maxSession: maxSession,
          flags: flags, scope: Self.scope(list.bytes, names.count, revision))),
      patience: patience.derivation)
    return reply.notices
  }

  /// Proves a credential afresh, so that protected values can be read on this connection, by any number
  /// of requests, until `SlotAuthority.lifetime` is over or the vault is locked.
  ///
  /// - Parameters:
  ///   - kind: What the secret is.
  ///   - secret: As for an unlock.
  ///   - names: The items whose values are to be read, with what stands beside them: of all others the agent keeps
  ///     nothing. Without names all are.
  ///   - revision: One of these items that is read beside the current one; 0 for none.
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.opensNoProtected`.
  public mutating func authorize(
    _ kind: Credential, secret: borrowing SecretBytes, for names: [String] = [],
    revision: UInt64 = 0
  ) throws(ClientError) -> Notice {
    let list = try Self.list(names)
    let reply: UnlockReply = try ask(
      .authorize(
        AuthorizeRequest(
          kind, secret: secret.bytes, for: Self.scope(list.bytes, names.count, revision))),
      patience: patience.derivation)
    return reply.notices
  }

  @_lifetime(copy names)
  private static func scope(_ names: Span<UInt8>, _ count: Int, _ revision: UInt64) -> ProofScope {
    ProofScope(KeyFields(names, count: count), revision: count == 0 ? 0 : revision)
  }

  /// Locks this vault, or all of the agent's; when this returns, their files are whole: a copy is the vault.
  ///
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.notWhole`: it is locked all the same.
  public mutating func lock(
    _ reason: LockReason = .asked, scope: LockRequest.Scope = .vault
  ) throws(ClientError) {
    try send(.lock(LockRequest(reason, scope: scope)))
    try done()
  }

  /// Waits until somebody unlocks the vault.
  ///
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.locked` when the time ran out.
  public mutating func wait(milliseconds: UInt64) throws(ClientError) {
    try send(.wait(WaitRequest(milliseconds: milliseconds)))
    let longest = UInt64(Int32.max - patience.answer)
    try done(patience: Int32(min(milliseconds, longest)) + patience.answer)
  }

  /// Begins a ``wait(milliseconds:)`` and goes on: ``watched`` has something to read when it is
  /// answered. Some request must have been answered before.
  public mutating func beginWait(milliseconds: UInt64) throws(ClientError) {
    precondition(!release.isEmpty, "the agent's hello would be taken for the answer")
    try send(.wait(WaitRequest(milliseconds: milliseconds)))
  }

  /// Reads the answer to ``beginWait(milliseconds:)``.
  public mutating func endWait() throws(ClientError) { try done() }

  /// Asks to be told of the vault's lock, and goes on once it is certain: ``watched`` has something to read then,
  /// and when the agent ends. It extends no session.
  ///
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.locked` where it is locked already, with
  ///   `Failure.tooBusy` where too many are to be told, and with `Failure.unsupported` by an agent that tells nobody.
  public mutating func beginWatch() throws(ClientError) {
    try send(.watch)
    let frame = try channel.next(patience: patience.answer)
    if frame.type == .reply { try accept(frame) }
    guard frame.type == .progress else { throw .broken(.frameType(frame.type.rawValue)) }
    // The lock may have come with it, where no poll(2) sees it.
    if isAhead { try done() }
  }

  /// Reads the answer to ``beginWatch()``.
  ///
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.locked`.
  public mutating func endWatch() throws(ClientError) { try done() }

  /// Has the agent ask for a finger, and goes on once a reader waits for one: ``watched`` has something to read when
  /// one was there, or none in time.
  ///
  /// - Returns: Whether one was there at once, so that there is nothing more to be read.
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.fingerUnfit`, with `Failure.fingerWrong` where one
  ///   was there at once, and with `Failure.unsupported` by an agent that knows of no fingers.
  public mutating func beginFinger() throws(ClientError) -> Bool {
    try send(.finger)
    let frame = try channel.next(patience: patience.derivation)
    if frame.type == .reply { try accept(frame) }
    guard frame.type == .progress else { throw .broken(.frameType(frame.type.rawValue)) }
    // The answer may have come with it, where no poll(2) sees it.
    guard isAhead else { return false }
    try done()
    return true
  }

  /// Reads the answer to ``beginFinger()``: the owner is there.
  ///
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.fingerWrong` and `Failure.fingerUnfit`.
  public mutating func endFinger() throws(ClientError) { try done() }

  /// What the agent says of itself.
  public mutating func agentStatus() throws(ClientError) -> AgentSummary {
    try send(.agentStatus)
    let payload = received(try answer())
    let report = try reading { () throws(ProtocolError) in try AgentReport(payload) }
    return AgentSummary(report, in: payload)
  }

  /// What protects the agent's memory, as it finds it.
  public mutating func agentFacts() throws(ClientError) -> AgentFacts {
    try send(.agentFacts)
    let payload = received(try answer())
    return try reading { () throws(ProtocolError) in try AgentFacts(payload) }
  }

  /// Locks all vaults and ends the agent; when this returns, their files are whole.
  ///
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.notWhole`: it ends all the same.
  public mutating func stopAgent() throws(ClientError) {
    try send(.agentStop)
    try done(patience: patience.process)
    do throws(ClientError) {
      _ = try channel.next(patience: patience.process)
      throw ClientError.broken(.frameType(FrameType.reply.rawValue))
    } catch {
      guard error == .hungUp else { throw error }
    }
  }
}
