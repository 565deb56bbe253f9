// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Something a client asked for that takes Argon2id: the worker's job and what becomes of it.
protocol Attempt: Errand {
  var job: any Job { get }

  /// Uses what the job found; its client still waits for it, and the vault was not locked since.
  func finish(in agent: Agent, for client: Connection) throws(Denial)

  /// The credential that turned out to be wrong, once the job is done; nil for none.
  var wrong: WrongCredential? { get }

  /// Notes that the job is done, whether anybody waits for it or not.
  ///
  /// - Returns: Whether what it found may still be used.
  func settle() -> Bool
}

extension Attempt {
  var wrong: WrongCredential? { nil }
}

extension Agent {
  /// Hands an attempt's job to the worker; its client waits meanwhile.
  func start(_ attempt: any Attempt, for connection: Connection) {
    attempts.append(
      Pending(
        attempt: attempt, client: connection, verb: connection.verb, peer: connection.peer))
    connection.errand = attempt
    connection.phase = .parked
    worker.start(attempt.job)
  }

  /// Refuses more attempts than there can be clients; those of clients that went are under way.
  func checkAttempts() throws(Denial) {
    guard attempts.count < configuration.limits.seats else { throw Denial(.busy) }
  }

  /// Drops what a client asked for and the worker has not begun, with its secrets and its file.
  ///
  /// What is under way runs to its end.
  func abandonAttempts(of client: Connection) {
    attempts.removeAll { pending in
      guard pending.client === client, worker.withdraw(pending.attempt.job) else { return false }
      _ = pending.attempt.settle()
      return true
    }
  }

  /// Takes over what the worker has done.
  func finishWork() {
    for job in worker.finished() {
      guard let index = attempts.firstIndex(where: { $0.attempt.job === job }) else { continue }
      finish(attempts.remove(at: index))
    }
  }

  private func finish(_ pending: Pending) {
    let attempt = pending.attempt
    lockDue()
    let counts = attempt.settle()
    noteWrong(pending)
    // Without its client, or after a lock, what was found is dropped, and wiped with that.
    guard counts, let client = pending.client, client.errand === attempt else { return }
    finish(attempt, for: client)
  }

  /// Finishes an attempt; one that finds the vault busy is finished again later.
  func finish(_ attempt: any Attempt, for client: Connection) {
    client.errand = nil
    client.phase = .ready
    let written = client.outbox.frames.count
    do throws(Denial) {
      try attempt.finish(in: self, for: client)
      client.busyDeadline = nil
      if client.phase == .ready { noteDone(client) }
    } catch {
      client.outbox.frames.removeLast(client.outbox.frames.count - written)
      if error.isWorthAnotherTry, postpone(client) {
        client.errand = attempt
        client.phase = .parked
        return
      }
      client.busyDeadline = nil
      refuse(client, error)
    }
    pump(client)
  }
}

/// An attempt under way, and who asked for it; the client may go first.
struct Pending {
  let attempt: any Attempt
  weak var client: Connection?
  let verb: Verb
  let peer: Peer
}

extension Agent {
  /// Opens the file of a client's vault; nothing in it is secret yet.
  func openLocked(_ connection: Connection) throws(Denial) -> LockedVault {
    let path = connection.vaultPath
    guard !path.isEmpty else { throw Denial(.pathInvalid) }
    try checkNotClosing(path)
    do throws(VaultError) { return try LockedVault(at: path, options: options) } catch {
      throw Denial(error, at: path)
    }
  }

  /// What the worker needs to try a client's secret.
  func guess(
    at vault: inout LockedVault, of connection: Connection
  ) throws(Denial) -> Guess {
    do throws(VaultError) { return Guess(try vault.attempt(), at: vault.id, tries) } catch {
      throw Denial(error, at: connection.vaultPath)
    }
  }

  /// The session of a vault, made when there is none yet.
  func session(of vault: borrowing LockedVault, at path: String) -> Session {
    let id = vault.fileID
    if let session = sessions.first(where: { $0.id == id }) { return session }
    sessions.removeAll {
      $0.path == path && !$0.isUnlocked && !$0.state.isUnlocking && $0.closing == nil
    }
    let session = Session(
      id: id, vault: vault.id, path: path, at: configuration.clock())
    sessions.append(session)
    return session
  }

  var options: VaultOptions {
    let clock = configuration.clock
    var options = VaultOptions(
      stateDirectory: configuration.stateDirectory, now: { clock().wall })
    options.memory = memory
    return options
  }

  /// A secret of the request, to outlive it.
  func secret(_ bytes: Span<UInt8>) throws(Denial) -> SecretBytes {
    do throws(SecureMemoryError) { return try SecretBytes(copying: bytes) } catch {
      throw Denial(.outOfMemory)
    }
  }

  /// Refuses to hold keys that may reach swap, where that was asked for.
  func checkMemory() throws(Denial) {
    guard configuration.requiresLockedMemory else { return }
    if LockedMemory.status.unlockedByteCount > 0 { throw Denial(.memoryNotLocked) }
  }
}
