// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Takes a backup from its request to its answer: a thread copies the file, the loop proves the copy where it
/// has the vault's keys, and the thread gives it its name. It ends with its client.
final class BackupRun {
  /// Between two words to the client, in milliseconds.
  private static let pause: UInt64 = 100

  /// Says what is done now.
  private enum Part {
    case copying, checking, publishing
  }

  private let backup: Backup
  private let thread: Worker
  /// Whose keys prove the copy; nil where the vault was locked when it began, or was since.
  private(set) weak var session: Session?
  private let epoch: UInt64
  private var part = Part.copying
  private var check: BackupCheck?
  private var isProved = false
  /// When it goes on if nothing happens, on the monotonic clock; 0: at once.
  private(set) var due: UInt64 = 0
  let path: String

  init(_ backup: Backup, at path: String, of session: Session?, on thread: Worker) {
    self.backup = backup
    self.path = path
    self.session = session
    self.thread = thread
    epoch = session?.summary?.epoch ?? 0
    thread.start(BackupJob { backup.copy() })
  }

  deinit { backup.stop() }

  func stop() { backup.stop() }

  /// The vault was locked: what looks at the copy with its keys goes, and the copy stays.
  func dropCheck() {
    check = nil
    session = nil
  }

  /// Goes on.
  ///
  /// - Returns: What was made; nil while it is under way.
  func advance(at now: UInt64) throws(Refusal) -> BackupReport? {
    switch part {
    case .copying:
      guard let copied = backup.copied else { break }
      _ = try outcome(of: copied)
      due = 0
      part = .checking
    case .checking:
      guard try !prove() else { return nil }
      part = .publishing
      let backup = backup
      thread.start(BackupJob { backup.publish() })
    case .publishing:
      guard let made = backup.made else { break }
      let done = try outcome(of: made)
      return BackupReport(
        byteCount: done.byteCount, removedCount: UInt32(clamping: done.removedCount),
        sparedCount: UInt32(clamping: done.sparedCount), isProved: isProved)
    }
    if part != .checking { due = now + Self.pause }
    return nil
  }

  var progress: (done: UInt64, total: UInt64) { backup.progress }

  /// Looks at some of the copy.
  ///
  /// - Returns: Whether there is more to look at.
  private func prove() throws(Refusal) -> Bool {
    guard let session, session.isUnlocked else { return false }
    do throws(VaultError) {
      if check == nil {
        check = try session.withVault { vault throws(VaultError) in
          try vault.beginCheck(of: backup, notBefore: epoch)
        }
      }
      // Assigned just now, or in the turn before.
      // swift-format-ignore: NeverForceUnwrap
      guard try !check!.step() else { return true }
    } catch {
      check = nil
      if backup.isRemoved { throw .backupFailed(errno: ENOENT, .text(path)) }
      throw .backupUnsound(.text(path))
    }
    check = nil
    isProved = true
    return false
  }

  private func outcome<Value>(of result: Result<Value, Backup.Failure>) throws(Refusal) -> Value {
    do throws(Backup.Failure) { return try result.get() } catch {
      throw Refusal(error, at: path, of: session?.path ?? path)
    }
  }
}

extension Refusal {
  /// What a client is told of a copy that there is not.
  ///
  /// - Parameters:
  ///   - path: Where it was to stand.
  ///   - vault: The path of the vault.
  init(_ failure: Backup.Failure, at path: String, of vault: String) {
    switch failure {
    case .vault(.pathTaken), .vault(.walLeftBehind): self = .vaultExists(.text(path))
    case .vault(let error): self = Refusal(error, at: vault).final(when: true)
    case .target(.diskFull): self = .diskFull(.text(path))
    case .target(.outOfMemory): self = .outOfMemory
    case .target(.io(let errno)): self = .backupFailed(errno: errno, .text(path))
    case .target(.readOnly): self = .backupFailed(errno: EROFS, .text(path))
    case .target(.permissionDenied): self = .backupFailed(errno: EACCES, .text(path))
    case .target: self = .backupFailed(errno: 0, .text(path))
    case .refused(let flaw): self = .backupRefused(flaw, .text(path))
    case .unsound: self = .backupUnsound(.text(path))
    case .stopped: self = .stopping
    }
  }
}

/// Has a thread do a part of a backup.
final class BackupJob: Job {
  private let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) { self.work = work }

  func run() { work() }
}

extension Agent {
  /// Begins a backup of a client's vault, locked or not.
  func backup(_ request: BackupRequest, _ connection: Connection) throws(Refusal) {
    let path = request.path.bytes
    guard path.count > 0, path[0] == UInt8(ascii: "/"), let text = try? UTF8Span(validating: path)
    else { throw .pathInvalid }
    let session = try unlockedSession(of: connection)
    let vault = try openLocked(connection)
    guard let copier = startedCopier() else { throw .outOfMemory }
    let target = String(copying: text)
    let holder = self.session(of: vault, at: connection.vaultPath)
    let backup = Backup(of: vault, to: target, keeping: Int(request.keep))
    holder.backup = backup
    connection.phase = .backingUp(BackupRun(backup, at: target, of: session, on: copier))
  }

  /// The thread that copies, one vault after the other.
  func startedCopier() -> Worker? {
    if let copier { return copier }
    guard let made = try? Worker(),
      (try? poller.add(made.noticeDescriptor, for: .readable, as: .work)) != nil
    else { return nil }
    copier = made
    return made
  }

  /// Goes on with each backup, and tells who waits for it.
  func continueBackups() {
    for connection in connections {
      guard let run = connection.phase.backup else { continue }
      let now = configuration.clock().monotonic
      do throws(Refusal) {
        let made = try run.advance(at: now)
        try wire { () throws(ProtocolError) in
          if let made {
            try connection.outbox.frames.putBackup(made)
            try connection.outbox.frames.putEnd()
          } else if !connection.hasPending, run.due > now {
            try connection.outbox.frames.putProgress(
              done: run.progress.done, total: run.progress.total)
          }
        }
        if made != nil {
          connection.phase = .ready
          resumed.append(connection)
        }
        flush(connection)
      } catch {
        connection.phase = .ready
        refuse(connection, error, as: .end)
        flush(connection)
        resumed.append(connection)
      }
    }
  }

  /// Lets go of the keys that look at copies of a vault.
  func dropChecks(of session: Session) {
    for connection in connections where connection.phase.backup?.session === session {
      connection.phase.backup?.dropCheck()
    }
  }

  /// Has the thread that copies end, and take away what it has not finished.
  func endBackups() {
    for connection in connections {
      connection.phase.backup?.stop()
      (connection.phase.stream as? CloneWork)?.stop()
    }
    copier?.stop()
  }
}
