// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Unlocks a vault for its session, or begins the clocks of an unlocked one anew.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Unlock: Act, @unchecked Sendable {
  private let session: Session
  private let credential: Credential
  private let asked: AskedTimes
  private let flags: UnlockRequest.Flags
  /// Which protected values it is to open besides.
  private let scope: ProvedScope
  private var key: VaultKey?
  /// A passcode that was right, in case its slot is to be wrapped anew.
  private var passcode: SecretBytes?
  /// What opens protected values, where the client asked for that, too.
  private var half: ProtectedKey?

  init(_ request: UnlockRequest, _ session: Session) throws(Refusal) {
    scope = try ProvedScope(request.scope)
    credential = request.credential
    asked = AskedTimes(idleTimeout: request.idleTimeout, maxSession: request.maxSession)
    flags = request.flags
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    key = try job.prove(secret)
    if credential == .passcode { passcode = consume secret }
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    let now = agent.configuration.clock()
    let notices: Notice
    do throws(VaultError) {
      notices = try unlock(attempt.file.take(), by: client.vaultPath, at: now)
    } catch {
      // The first try took the key and the vault: the client may ask again.
      throw Refusal(error, at: client.vaultPath).final(when: true)
    }
    agent.noteUnlock(of: session, by: client, credential, notices)
    // What cannot be opened now is asked for when it is read.
    if let half = half.take(), let key = try? scope.key(from: half, on: session, in: agent) {
      client.grant = Grant(key, of: session, since: now.boot)
    }
    agent.answerWaiting(session)
    // Another file may stand at the path than when its client began to ask.
    agent.endPrompt(of: client)
    let told = notices.union(attempt.notices)
    if session.mayBeStrengthened, let passcode = passcode.take(),
      let slots = attempt.job.tally?.slots
    {
      // The answer follows when that is done.
      let act = Strengthening(slots, session, told)
      return agent.start(Attempt(act, passcode, of: session, for: client), for: client)
    }
    try wire { () throws(ProtocolError) in try client.outbox.frames.putReply(UnlockReply(told)) }
  }

  private func unlock(
    _ file: consuming LockedVault?, by path: String, at now: Moment
  ) throws(VaultError) -> Notice {
    guard let key = key.take() else { throw .outOfMemory }
    let isAuthorizing = flags.contains(.authorize) && key.holdsProtectedHalf
    let origin = key.origin
    if session.isUnlocked {
      let isAccepted = try session.withVault { vault throws(VaultError) in
        try check(&vault, origin)
        return try vault.checkPlace(path, accepting: flags.contains(.acceptExchange))
      }
      if isAuthorizing {
        half = try session.withVault { vault throws(VaultError) in
          try vault.protectedKey(from: key)
        }
      }
      session.begin(asking: asked, at: now)
      return isAccepted ? [.alreadyUnlocked, .exchangeAccepted] : .alreadyUnlocked
    }
    guard let file else { throw .busy }
    // Of no use unless the unlock proves that the slot is the vault's.
    let half = isAuthorizing ? try key.protectedKey(of: file.id) : nil
    var opened = try file.unlock(
      with: key, acceptingRollback: flags.contains(.acceptRollback),
      acceptingExchange: flags.contains(.acceptExchange))
    do throws(VaultError) { try check(&opened, origin) } catch {
      opened.fold()
      throw error
    }
    // What finds the file busy has the next unlock.
    try? opened.takeLooserSettings(by: origin)
    session.unlock(opened, by: path, asking: asked, at: now)
    self.half = consume half
    let memory: Notice = LockedMemory.status.unlockedByteCount > 0 ? .memoryNotLocked : []
    return session.notices.union(memory)
  }

  /// Longer times than the vault's take what the owner knows.
  private func check(_ vault: inout UnlockedVault, _ origin: KeyOrigin) throws(VaultError) {
    try vault.checkTimes(
      idleTimeout: asked.idleTimeout, maxSession: asked.maxSession, by: origin)
  }
}

extension Agent {
  func unlock(
    _ request: UnlockRequest, _ connection: Connection
  ) throws(Refusal) {
    try checkMemory()
    try checkAttempts()
    // A copy in the place of an unlocked vault ends its session first, so that it is accepted at the first go.
    if let session = try session(of: connection), session.isUnlocked {
      // SQLite looks at a file anew when somebody else has opened it.
      try openLocked(connection).close()
      _ = try? work(on: session) { vault throws(VaultError) in try vault.slotReports() }
    }
    let vault = try openLocked(connection)
    let session = session(of: vault, at: connection.vaultPath)
    try begin(
      try Unlock(request, session), by: request.credential, request.secret.bytes,
      codes: .taken, at: vault, of: session, for: connection)
  }
}
