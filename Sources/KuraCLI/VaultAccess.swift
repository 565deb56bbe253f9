// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Gets a command at its vault: which one, through which engine, and what it does when it finds it
/// locked.
struct VaultAccess {
  let vault: VaultPath
  let asking: Asking
  /// Whether an engine serves this command alone.
  let isPrivate: Bool
  /// How long to wait for somebody to unlock the vault, in ms; nil: not at all.
  let patience: UInt64?
  let messages: Messages
  /// What a proof of the passcode opens for the command.
  var opening = Opening.all

  init(
    _ arguments: Arguments, _ variables: Variables, _ messages: Messages, vault: VaultPath
  ) throws(CommandError) {
    self.vault = vault
    isPrivate = arguments.has(.noAgent)
    asking = Asking(arguments, variables)
    patience = try parsing { () throws(UsageError) in
      try arguments.refuse(.wait, with: .noAgent)
      guard arguments.has(.wait) else { return nil }
      return try arguments.duration(.wait) ?? UInt64(Int32.max)
    }
    self.messages = messages
  }

  /// The vault as people call it.
  var title: String { Diagnostic.shown(vault.name ?? vault.path) }
}

extension Invocation {
  /// The vault that this command is about.
  ///
  /// - Parameter vault: A vault's path; it goes before `--vault`.
  func access(vault: String? = nil) throws(CommandError) -> VaultAccess {
    let given = try text(.vault)
    let path: VaultPath
    do throws(PathError) { path = try VaultPath.resolve(vault ?? given) } catch {
      throw .path(error)
    }
    return try VaultAccess(arguments, variables, messages, vault: path)
  }

  /// The same for a verb that needs an agent that stays.
  func agentAccess(verb: String) throws(CommandError) -> VaultAccess {
    if arguments.has(.noAgent) {
      throw .usage(
        verb + " makes no sense with --no-agent", hint: "a private engine ends with the command")
    }
    return try access()
  }
}

// MARK: - Engines

extension VaultAccess {
  /// Connects to the engine: a private one when that was asked for, else the agent, which is
  /// started if need be.
  func connect() throws(CommandError) -> Connection {
    try open(isPrivate ? .own : .started)
  }

  /// The same, but nil where no agent is running.
  func connectRunning() throws(CommandError) -> Connection? {
    do throws(CommandError) { return try open(isPrivate ? .own : .running) } catch {
      guard error == .client(.noAgent) else { throw error }
      return nil
    }
  }

  /// The same, but nil also where the agent is just ending: it still takes connections for a
  /// moment, and answers none.
  func connectAnswering() throws(CommandError) -> Connection? {
    guard var connection = try connectRunning() else { return nil }
    do throws(ClientError) { _ = try connection.agentStatus() } catch {
      guard error == .noAgent else { throw .client(error) }
      return nil
    }
    return connection
  }

  /// Does something with every agent of the user: there may be one of a time before the session.
  ///
  /// - Returns: Whether there was any.
  func eachAgent(
    _ body: (inout Connection) throws(ClientError) -> Void
  ) throws(CommandError) -> Bool {
    try running { () throws(ClientError) in try Connection.toEachAgent(about: vault, body) }
  }

  /// Connects to the agent that has the vault unlocked, else to the first; nil where none is running.
  func connectHolding() throws(CommandError) -> Connection? {
    if !isPrivate, let places = try? AgentSocket.all() {
      for place in places.dropFirst() {
        do throws(ClientError) {
          var connection = try Connection.open(vault, engine: .running, socket: place)
          if try connection.status().state == .unlocked { return connection }
        } catch { continue }
      }
    }
    return try connectRunning()
  }

  /// Connects to the agent where one is running, else to a private engine: what changes no session
  /// leaves no agent behind.
  func connectRunningOrOwn() throws(CommandError) -> Connection {
    if let connection = try connectAnswering() { return connection }
    return try open(.own)
  }

  /// Connects to a private engine, whatever is running.
  func connectOwn() throws(CommandError) -> Connection { try open(.own) }

  /// Has the agent lock the vault and let go of its file, even for a command that uses a private
  /// engine; without an agent nothing is unlocked.
  func lockAgent() throws(CommandError) {
    do throws(CommandError) {
      var connection = try open(.running)
      try running { () throws(ClientError) in try connection.lock(.asked, scope: .vault) }
    } catch {
      // Locked it is, whatever its file is like: that is for who keeps the file.
      if case .client(.refused(let refused)) = error,
        refused.failure.isOfVault || refused.failure.isOfWholeFile
      {
        return
      }
      guard error == .client(.noAgent) else { throw error }
    }
  }

  private func open(_ engine: Engine) throws(CommandError) -> Connection {
    try running { () throws(ClientError) in try Connection.open(vault, engine: engine) }
  }

  /// Does what needs an unlocked vault, and unlocks it first where it is locked.
  ///
  /// - Parameters:
  ///   - authorizing: Whether an unlock serves as a fresh proof of the passcode, too, so that nobody is
  ///     asked twice.
  ///   - body: Is run again after an unlock, and again after a fresh proof of the passcode: when it is
  ///     refused because the vault is locked or an item protected, it must have done nothing yet.
  func unlocked<Value>(
    authorizing: Bool = false, _ body: (inout Connection) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var held = Held()
    return try unlocked(authorizing: authorizing, holding: &held, body)
  }

  /// The same for a command that does more than one thing, or what may be refused for another reason.
  ///
  /// - Parameters:
  ///   - held: What the command has of the vault, from one thing to the next.
  ///   - recover: Does it again in another way.
  func unlocked<Value>(
    authorizing: Bool = false, holding held: inout Held,
    _ body: (inout Connection) throws(ClientError) -> Value,
    recovering recover: (inout Connection, Refusal, inout KeptSecret) throws(CommandError) ->
      Value = { _, refused, _ throws(CommandError) in throw .client(.refused(refused)) }
  ) throws(CommandError) -> Value {
    var value: Value?
    try reach(
      authorizing, &held,
      { connection throws(ClientError) in value = try body(&connection) },
      { connection, refused, secret throws(CommandError) in
        value = try recover(&connection, refused, &secret)
      })
    guard let value else { preconditionFailure("one of the two was done") }
    return value
  }

  /// What is the same whatever is done: an Embedded program would have it once for each.
  @inline(never)
  private func reach(
    _ authorizing: Bool, _ held: inout Held,
    _ body: (inout Connection) throws(ClientError) -> Void,
    _ recover: (inout Connection, Refusal, inout KeptSecret) throws(CommandError) -> Void
  ) throws(CommandError) {
    var (losses, isUnlocked): (Int32, Bool) = (0, false)
    while true {
      guard var connection = try lasting(&held.connection) else {
        guard vault.isThere else { throw .noVault(vault.path) }
        held.connection = try unlock(nil, LockFacts(), authorizing, &held.secret)
        isUnlocked = true
        continue
      }
      do throws(ClientError) {
        try body(&connection)
        held.connection = consume connection
        return
      } catch {
        // As in ``connectAnswering()``, at no cost for an agent that is there.
        if error == .noAgent, !isUnlocked {
          // An agent that ends is gone in a moment; what hangs up again and again is none.
          guard losses < 5 else { throw .client(.hungUp) }
          kura_pause(20 << losses)
          losses += 1
          continue
        }
        guard case .refused(let refused) = error else { throw .client(error) }
        if !isUnlocked, case .locked(let note) = refused {
          held.connection = try unlock(connection, LockFacts(note), authorizing, &held.secret)
          isUnlocked = true
          continue
        }
        if case .protected(let item) = refused {
          try authorized(&connection, item, body)
        } else {
          try recover(&connection, refused, &held.secret)
        }
        held.connection = consume connection
        return
      }
    }
  }

  /// The connection that is held, or another one where its agent has ended it meanwhile; nil where no
  /// agent is running.
  private func lasting(_ held: inout Connection?) throws(CommandError) -> Connection? {
    if let connection = held.take(), !connection.isCut { return connection }
    return try connectRunning()
  }
}

// MARK: - Unlocking

extension VaultAccess {
  /// Unlocks the vault by whatever means there are; an agent is started only when there are some.
  private func unlock(
    _ existing: consuming Connection?, _ facts: LockFacts, _ authorizing: Bool,
    _ kept: inout KeptSecret
  ) throws(CommandError) -> Connection {
    let kind = asking.authority
    if let secret = try asking.givenCredential(as: kind) {
      var connection = try existing.orConnect(self)
      note(
        try running { () throws(ClientError) in
          try unlock(&connection, kind, secret, authorizing)
        }, after: kind)
      kept.keep(secret, isTyped: false)
      return connection
    }
    if let patience {
      var connection = try existing.orConnect(self)
      try wait(&connection, patience, facts)
      return connection
    }
    var questioner = try asking.questioner()
    guard questioner.canAsk else {
      if !asking.isInRoom { try checkFile() }
      throw .locked(placed(facts))
    }
    let connection = try existing.orConnect(self)
    return try ask(&questioner, kind, connection) { kind, secret, engine throws(ClientError) in
      let notices = try unlock(&engine, kind, secret, authorizing)
      // What opened a slot of a TPM is none of what is asked for later.
      if kind != .tpm { kept.keep(secret, isTyped: true) }
      return notices
    }
  }

  private func unlock(
    _ connection: inout Connection, _ kind: Credential, _ secret: borrowing SecretBytes,
    _ authorizing: Bool
  ) throws(ClientError) -> Notice {
    try connection.unlock(
      kind, secret: secret, authorizing: authorizing, for: opening.names,
      revision: opening.revision)
  }

  /// What is no vault, or a damaged one, is not said to be a locked one: no unlock would help.
  private func checkFile() throws(CommandError) {
    var connection = try connectRunningOrOwn()
    _ = try running { () throws(ClientError) in try connection.status() }
  }

  private func wait(
    _ connection: inout Connection, _ milliseconds: UInt64, _ facts: LockFacts
  ) throws(CommandError) {
    do throws(ClientError) { try connection.wait(milliseconds: milliseconds) } catch {
      guard var locked = LockFacts(error) else { throw .client(error) }
      locked.hasWaited = true
      throw .locked(placed(locked))
    }
  }

  /// Says which vault is locked, where `kura unlock` alone would unlock another.
  private func placed(_ facts: LockFacts) -> LockFacts {
    var facts = facts
    if (try? VaultPath.resolve(nil))?.path != vault.path {
      facts.vault = vault.name ?? vault.path
    }
    return facts
  }
}

extension Optional where Wrapped == Connection {
  fileprivate consuming func orConnect(
    _ access: VaultAccess
  ) throws(CommandError) -> Connection {
    if let connection = consume self { return connection }
    return try access.connect()
  }
}
