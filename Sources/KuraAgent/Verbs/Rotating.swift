// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Notes how far a rotation is by what a client was told, who waits for its end.
final class RotationWatch {
  /// Parts of the whole after which progress is told.
  private static let steps: UInt64 = 200

  let session: Session
  private var told: UInt64?

  init(_ session: Session) { self.session = session }

  /// Whether there is progress to tell.
  func isNews(_ progress: RotationProgress) -> Bool {
    let part = progress.done * Self.steps / RotationProgress.total
    defer { told = part }
    return part != told
  }
}

extension Agent {
  /// Begins a rotation, or joins the one under way.
  ///
  /// The work itself does not belong to the client: it goes on without it, and after each unlock.
  func rotate(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    try work(on: session) { vault throws(VaultError) in try vault.beginRotation() }
    noteChange(of: session)
    session.rotation.resume()
    connection.phase = .awaitingRotation(RotationWatch(session))
  }

  /// Does one slice of each rotation under way that is due, and tells who waits for it.
  func continueRotations() {
    for session in sessions where session.isUnlocked {
      if session.isRotating, configuration.clock().monotonic >= session.rotation.deadline {
        continueRotation(session)
      }
      if session.rotation.isWatched { tellWatchers(of: session) }
    }
  }

  private func continueRotation(_ session: Session) {
    do throws(Refusal) {
      _ = try work(on: session) { vault throws(VaultError) in try vault.rotate() }
      session.rotation.pause(at: configuration.clock().monotonic)
      noteChange(of: session)
    } catch {
      // A lock that came of it has answered already.
      guard session.isUnlocked else { return }
      let now = configuration.clock().monotonic
      let limits = configuration.limits
      if error.isWorthAnotherTry {
        guard session.rotation.isBusyFor(limits.busy, retry: limits.retry, at: now) else { return }
      } else {
        session.rotation.halt()
      }
      for watcher in watchers(of: session) {
        refuse(watcher, error)
        release(watcher)
      }
    }
  }

  private func tellWatchers(of session: Session) {
    let watchers = watchers(of: session)
    session.rotation.isWatched = !watchers.isEmpty
    for watcher in watchers where !watcher.hasPending {
      guard let watch = watcher.phase.rotation else { continue }
      switch session.rotationProgress {
      case .some(let progress):
        guard watch.isNews(progress) else { continue }
        try? watcher.outbox.frames.putProgress(
          done: progress.done, total: RotationProgress.total)
        flush(watcher)
      case .none:
        try? watcher.outbox.frames.putEnd()
        release(watcher)
      }
    }
  }

  private func watchers(of session: Session) -> [Connection] {
    connections.filter { $0.phase.rotation?.session === session }
  }

  private func release(_ watcher: Connection) {
    watcher.phase = .ready
    resumed.append(watcher)
  }
}

/// Says when the next slice of a vault's rotation is due; times on the monotonic clock, in milliseconds.
struct RotationPace {
  /// Between two slices, so that other engines of the vault have their turn.
  private static let pause: UInt64 = 4

  private(set) var deadline: UInt64 = 0
  /// Whether it met damage, where nothing is gained by another try before somebody asks for it.
  private(set) var isHalted = false
  /// Whether clients may be waiting for its end.
  var isWatched = false
  private var busySince: UInt64?

  /// Somebody waits for it now.
  mutating func resume() {
    (deadline, isHalted, isWatched, busySince) = (0, false, true, nil)
  }

  mutating func pause(at now: UInt64) { (deadline, busySince) = (now + Self.pause, nil) }

  mutating func halt() { isHalted = true }

  /// Notes that the vault was busy.
  ///
  /// - Returns: Whether it has been so for too long to have clients wait; the work goes on all the same.
  mutating func isBusyFor(_ limit: UInt64, retry: UInt64, at now: UInt64) -> Bool {
    deadline = now + retry
    let since = busySince ?? now
    busySince = since
    guard now - since >= limit else { return false }
    busySince = nil
    return true
  }
}
