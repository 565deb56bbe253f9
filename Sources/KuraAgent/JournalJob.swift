// SPDX-License-Identifier: MIT

internal import KuraVault

/// Moves a vault's journal into its file. It needs nothing of the loop's and brings nothing back.
final class JournalJob: Job {
  private let move: JournalMove

  init(_ move: JournalMove) { self.move = move }

  func run() { move.run() }
}

extension Agent {
  /// Has the worker move a vault's journal once it is long.
  func moveJournal(of keeper: Keeper) {
    guard keeper.isUnlocked else { return }
    let move = try? keeper.withVault { vault throws(VaultError) in vault.takeJournalMove() }
    if let move = move.flatMap({ $0 }) { worker.start(JournalJob(move)) }
  }

  /// Serves those who waited for the end of such a move.
  func resumeBusy() {
    for case let connection? in connections where connection.busyDeadline != nil {
      retry(connection)
    }
  }
}
