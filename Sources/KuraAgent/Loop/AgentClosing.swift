// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraProtocol
internal import KuraVault

/// What follows a lock: the vault's file is left whole, and then who asked for the lock is answered.
extension Agent {
  /// Begins what is to be closed, on a thread of its own: neither does an unlock wait for a disk, nor a disk for
  /// a key derivation.
  func beginClosings() {
    var hasEnded = false
    for session in sessions {
      guard let closing = session.closing, !session.isClosingBegun else { continue }
      session.isClosingBegun = true
      guard let closer = startedCloser() else {
        closing.run()
        hasEnded = true
        continue
      }
      closer.start(closing)
    }
    if hasEnded { finishClosings() }
  }

  /// The thread for that: many agents never need it.
  func startedCloser() -> Worker? {
    if let closer { return closer }
    guard let made = try? Worker(),
      (try? poller.add(made.noticeDescriptor, for: .readable, as: .work)) != nil
    else { return nil }
    closer = made
    return made
  }

  /// Goes on with what waited for a vault to be closed.
  func finishClosings() {
    _ = closer?.finished()
    for session in sessions where session.closing?.outcome != nil { session.endClosing() }
    for connection in connections {
      guard let wait = connection.phase.closings, wait.isOver else { continue }
      answer(wait, connection)
    }
  }

  /// Closes what is not closed when the agent ends, however long that takes.
  func awaitClosings() {
    closer?.stop()
    for session in sessions { session.closing?.run() }
    finishClosings()
  }

  /// Answers a lock when the files are whole, or when it takes too long.
  func awaitClosings(_ closings: [Closing], for connection: Connection, until deadline: UInt64) {
    let wait = ClosingWait(closings: closings, deadline: deadline)
    connection.phase = .awaitingClosings(wait)
    if wait.isOver { answer(wait, connection) }
  }

  /// Tells whether the files are whole.
  func answer(_ wait: ClosingWait, _ connection: Connection) {
    connection.phase = .ready
    if let refusal = wait.closings.lazy.compactMap(Refusal.init).first {
      refuse(connection, refusal)
    } else {
      try? connection.outbox.frames.putReply()
    }
    flush(connection)
    resumed.append(connection)
  }

  /// Lets a request wait that would open a file which is being closed. It goes by the path, too: what stands
  /// there now would be read with the WAL of what stood there before.
  func checkNotClosing(_ path: String) throws(Refusal) {
    let closing = sessions.filter { $0.closing != nil }
    guard !closing.isEmpty else { return }
    let id = try identity(of: path)
    if closing.contains(where: { $0.id == id || $0.path == path || $0.closing?.path == path }) {
      throw .busy
    }
  }

  /// Has the WAL moved into its file that an engine left which was killed, or which another one was in the
  /// way of: whoever locks means that the file is the vault.
  func takeUpLeftWAL(of connection: Connection) throws(Refusal) -> Closing? {
    let path = connection.vaultPath
    guard !path.isEmpty, LockedVault.hasWAL(at: path) else { return nil }
    if let session = try session(of: connection), session.isUnlocked || session.closing != nil {
      return session.closing
    }
    let vault = try openLocked(connection)
    let session = session(of: vault, at: path)
    session.leave(vault)
    return session.closing
  }
}

extension Refusal {
  /// What an asker of a lock is told of a file that is not whole; nil for one that is.
  fileprivate init?(_ closing: Closing) {
    let path = Subject.text(closing.path)
    switch closing.outcome {
    case .whole: return nil
    case nil: self = .notWhole(isHeld: false, path)
    case .held: self = .notWhole(isHeld: true, path)
    case .failed(.diskFull): self = .wholeFailed(errno: ENOSPC, path)
    case .failed(.io(let errno)): self = .wholeFailed(errno: errno, path)
    case .failed: self = .wholeFailed(errno: 0, path)
    }
  }
}
