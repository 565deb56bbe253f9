// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Notes which credential opened nothing, for the access log.
struct WrongCredential: Equatable {
  let failure: Failure
  let credential: Credential

  /// Nil for a failure of another kind.
  init?(_ error: VaultError?, _ credential: Credential) {
    guard let error else { return nil }
    var credential = credential
    // A PIN is shown beside a passcode that was right.
    if case .chip = error { credential = .fido2 }
    if error.isWrongSecret {
      failure = credential == .passcode || credential == .local ? .wrongPasscode : .wrongKey
    } else if case .codesSpent = error {
      failure = .localErased
    } else {
      return nil
    }
    self.credential = credential
  }
}

// MARK: - Entries

extension Agent {
  /// Notes an entry of a vault that is unlocked.
  func noteEntry(
    _ verb: Verb, code: UInt16 = 0, detail: UInt64 = 0, name: Span<UInt8> = Span(),
    other: Span<UInt8> = Span(), of session: Session, by connection: Connection?
  ) {
    guard session.isUnlocked else { return }
    let facts = facts(verb, code: code, detail: detail, connection?.peer)
    let isEach = noteEntry(facts, name, other, of: session)
    if session.logDeadline == nil {
      session.logDeadline = configuration.clock().monotonic + configuration.limits.log
    }
    if isEach { flushLog(of: session) }
  }

  /// Notes an entry that is written in a moment, whatever the policy says: here no key may wait for a disk.
  func noteSoon(
    _ verb: Verb, detail: UInt64, name: Span<UInt8> = Span(), of session: Session,
    by connection: Connection?
  ) {
    guard session.isUnlocked else { return }
    let facts = facts(verb, code: 0, detail: detail, connection?.peer)
    _ = noteEntry(facts, name, Span(), of: session)
    if session.logDeadline == nil {
      session.logDeadline = configuration.clock().monotonic + configuration.limits.log
    }
  }

  /// - Returns: Whether the entries are to be written at once.
  private func noteEntry(
    _ facts: LogFacts, _ name: Span<UInt8>, _ other: Span<UInt8>, of session: Session
  ) -> Bool {
    let isEach = try? session.withVault { vault throws(VaultError) in
      vault.note(facts, name: name, other: other)
      return vault.policy[.logSync] != 0 || vault.waitingLogEntries >= LogFrame.mostEntries
    }
    return isEach ?? false
  }

  private func facts(
    _ verb: Verb, code: UInt16, detail: UInt64, _ peer: Peer?
  ) -> LogFacts {
    var facts = LogFacts(
      time: configuration.clock().wall, verb: verb.rawValue, code: code, detail: detail)
    guard let peer else { return facts }
    facts.process = peer.process
    facts.parent = peer.parent
    facts.program = peer.program
    facts.parentProgram = peer.parentProgram
    facts.terminal = peer.terminal
    return facts
  }

  /// Notes what a request came to that was served at once, or began to be.
  func noteServed(_ request: borrowing Request, _ connection: Connection) {
    guard let subject = request.logSubject else { return }
    // Whatever path its client named the vault by.
    guard let session = try? session(of: connection) else { return }
    noteEntry(
      request.verb, detail: subject.detail | LoggedGrant.detail(connection.usedGrant),
      name: subject.name, other: subject.other, of: session, by: connection)
    noteFiles(request, of: session, by: connection)
  }

  /// Notes that a protected value was not handed out, for want of its owner's word.
  func noteDenied(_ refusal: Refusal, _ frame: Frame, _ connection: Connection) {
    guard frame.type == .request, connection.verb.mayBeGranted,
      case .protected(.field(let name)) = refusal,
      let session = try? session(of: connection)
    else { return }
    let start = frame.payload.lowerBound
    let place = (start + name.lowerBound)..<(start + name.upperBound)
    guard let name = try? secret(connection.inbox.bytes.extracting(place)) else { return }
    note(connection.verb, name, 0, [], code: refusal.failure.rawValue, in: session, by: connection)
  }

  /// Notes each of the items that went with the one that a request named.
  private func noteFiles(
    _ request: borrowing Request, of session: Session, by connection: Connection
  ) {
    let verb = request.verb
    if case .remove(let request) = copy request {
      request.files.forEach { noteEntry(verb, name: $0.bytes, of: session, by: connection) }
    }
    if case .restore(let request) = copy request {
      request.files.forEach { noteEntry(verb, name: $0.bytes, of: session, by: connection) }
    }
    if case .move(let request) = copy request {
      request.eachFile { name, new in
        noteEntry(verb, name: name.bytes, other: new.bytes, of: session, by: connection)
      }
    }
  }

  /// Notes that a value was stored that came in parts.
  func noteStored(_ name: borrowing SecretBytes, in session: Session, by connection: Connection) {
    noteEntry(.put, name: name.bytes, of: session, by: connection)
  }

  /// Notes how many values of a batch were stored, once that is known.
  func noteStored(_ batch: BatchStore, by connection: Connection) {
    guard batch.storedCount > 0 else { return }
    noteEntry(
      .putBatch, detail: UInt64(batch.storedCount), of: batch.session, by: connection)
  }

  /// Notes that something was done that took a credential.
  func noteDone(_ connection: Connection) {
    guard connection.verb.traits.contains(.isNotedWhenDone) else { return }
    guard let session = try? session(of: connection) else { return }
    noteEntry(connection.verb, of: session, by: connection)
  }

  /// Notes an unlock, and writes it at once: what is noted at the lock needs to know the end of the log.
  func noteUnlock(
    of session: Session, by connection: Connection, _ credential: Credential, _ notices: Notice
  ) {
    let accepted: UInt64 = notices.contains(.rollbackAccepted) ? 0x100 : 0
    noteEntry(
      .unlock, detail: UInt64(credential.rawValue) | accepted, of: session, by: connection)
    session.logDeadline = configuration.clock().monotonic
  }

  /// Notes a lock; its entry is sealed while the keys are there, and written when they are gone.
  func noteLock(of session: Session, _ reason: LockReason, by connection: Connection?) {
    guard session.isUnlocked else { return }
    let facts = facts(.lock, code: 0, detail: UInt64(reason.rawValue), connection?.peer)
    _ = noteEntry(facts, Span(), Span(), of: session)
  }

  /// Notes a credential that was wrong, whether its client still waits or not.
  func noteWrong(_ attempt: Attempt) {
    guard let wrong = attempt.wrong, let session = attempt.session else { return }
    let facts = facts(
      attempt.verb, code: wrong.failure.rawValue, detail: UInt64(wrong.credential.rawValue),
      attempt.peer)
    if session.isUnlocked {
      _ = noteEntry(facts, Span(), Span(), of: session)
      session.logDeadline = configuration.clock().monotonic
    } else {
      try? LockedLog.note(facts, of: session.vaultID, in: configuration.stateDirectory)
    }
  }
}

/// Says what a request is about that is served at once.
struct LogSubject: ~Escapable {
  var name: Span<UInt8>
  var other: Span<UInt8>
  var detail: UInt64

  @_lifetime(copy name, copy other)
  init(_ name: Span<UInt8>, other: Span<UInt8>, detail: UInt64 = 0) {
    self.name = name
    self.other = other
    self.detail = detail
  }

  @_lifetime(copy name)
  init(_ name: Span<UInt8>, detail: UInt64 = 0) {
    self.init(name, other: name.extracting(first: 0), detail: detail)
  }
}

extension VaultError {
  /// Whether the file at the path is not the vault that was unlocked any more: it is locked.
  var isOfAnotherVault: Bool {
    if case .rolledBack = self { return true }
    if case .forked = self { return true }
    return self == .replaced
  }
}

// MARK: - The file

extension Agent {
  /// Writes the entries that wait; those of a file that cannot be written wait on.
  func flushLog(of session: Session) {
    guard session.isUnlocked else { return }
    session.isOutdated = false
    do throws(VaultError) {
      session.logDeadline = nil
      try session.withVault { vault throws(VaultError) in
        try vault.flushLog(sync: vault.policy[.logSync] != 0)
      }
    } catch {
      let pause = error == .busy ? configuration.limits.retry : configuration.limits.log
      session.logDeadline = configuration.clock().monotonic + pause
      session.isOutdated = error.isOfAnotherVault
    }
  }

  func writeLogIfDue(of session: Session) {
    guard let deadline = session.logDeadline, configuration.clock().monotonic >= deadline else {
      return
    }
    flushLog(of: session)
    // Its keys are not the vault's any more.
    if session.isOutdated { lock(session, .vaultChanged) }
  }

  /// Tells what the log of this machine has.
  func readLog(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    // Served again since the file was busy, it is noted already.
    if connection.busyDeadline == nil { noteEntry(.log, of: session, by: connection) }
    let path = configuration.stateDirectory + "/" + session.vaultID.hexadecimal + ".log"
    let list = try work(on: session, at: path) { vault throws(VaultError) in
      LogList(try vault.readLog(), of: session)
    }
    connection.phase = .sending(list)
  }
}
