// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraVault

/// Moves a vault's journal into its file. It needs nothing of the loop's and brings nothing back.
final class JournalJob: Job {
  private let move: JournalMove

  init(_ move: JournalMove) { self.move = move }

  func run() { move.run() }
}

extension Agent {
  /// Has a vault's journal moved once it is long, on a thread of its own: neither does an unlock wait
  /// for a disk, nor a disk for a key derivation.
  func moveJournal(of session: Session) {
    guard session.isUnlocked, session.move == nil, !session.mustServeWaiting else { return }
    let move = try? session.withVault { vault throws(VaultError) in vault.takeJournalMove() }
    guard let move = move.flatMap({ $0 }) else { return }
    guard let mover = startedMover() else { return move.run() }
    let job = JournalJob(move)
    session.move = job
    mover.start(job)
  }

  /// The thread for that: most agents never need it.
  func startedMover() -> Worker? {
    if let mover { return mover }
    guard let made = try? Worker(),
      (try? poller.add(made.noticeDescriptor, for: .readable, as: .work)) != nil
    else { return nil }
    mover = made
    return made
  }

  /// Goes on with what waited for the ends of moves.
  func finishMoves() {
    guard let done = mover?.finished(), !done.isEmpty else { return }
    finishClosings()
    for session in sessions where done.contains(where: { $0 === session.move }) {
      let hasFollowed = session.isMovingAgain
      session.move = nil
      if hasFollowed {
        // Others may write on for ever.
        session.mustServeWaiting = true
      } else {
        moveJournal(of: session)
        session.isMovingAgain = session.move != nil
      }
      if session.move == nil { finishMove(of: session) }
    }
    for case let connection? in connections where connection.busyDeadline != nil {
      retry(connection)
    }
  }

  private func finishMove(of session: Session) {
    if session.isUnlocked {
      // Later, where that fails.
      try? session.withVault { vault throws(VaultError) in try vault.clearJournal() }
      // Its file is made short then.
      let upkeep = configuration.clock().monotonic + configuration.limits.upkeep
      session.upkeepDeadline = session.upkeepDeadline ?? upkeep
    }
    // What a batch took of memory is no small part of what an agent at rest may have.
    if !isMovingValue(of: session) { kura_memory_trim() }
  }

  /// Takes back the move that has not begun: who closes the file does the same.
  func withdrawMove(of session: Session) {
    guard let move = session.move, mover?.withdraw(move) == true else { return }
    session.move = nil
  }

  /// Waits for the moves under way, so that every vault can be closed.
  func awaitMoves() {
    mover?.stop()
    for session in sessions { session.move = nil }
  }
}
