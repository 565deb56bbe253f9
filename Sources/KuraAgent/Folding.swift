// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraVault

/// Moves what a batch left in the journal into the vault's file, on the worker: the loop does not wait
/// for the disk.
///
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Folding: Job, @unchecked Sendable {
  fileprivate let keeper: Keeper
  private let work: JournalWork

  fileprivate init(_ work: JournalWork, of keeper: Keeper) {
    self.work = work
    self.keeper = keeper
    keeper.foldingCount += 1
  }

  func run() { work.run() }

  /// Ends it, on the loop's thread; the worker's may let go of it later.
  fileprivate func finish() {
    work.close()
    keeper.foldingCount -= 1
  }
}

extension Agent {
  /// Takes from a batch what is left to do of it.
  func fold(_ batch: BatchStore) {
    guard let work = batch.takeJournal() else { return }
    let folding = Folding(work, of: batch.keeper)
    foldings.append(folding)
    worker.start(folding)
  }

  /// Ends what the worker is done with.
  func finishFolding(_ job: any Job) { finishFoldings { $0 === job } }

  /// Takes back what the worker has not begun for a vault: who closes its file does the same.
  func withdrawFoldings(of keeper: Keeper) {
    finishFoldings { $0.keeper === keeper && worker.withdraw($0) }
  }

  /// Waits for what the worker is at, so that every vault is one file.
  func awaitFoldings() {
    guard !foldings.isEmpty else { return }
    worker.stop()
    finishFoldings { _ in true }
  }

  private func finishFoldings(where isDone: (Folding) -> Bool) {
    let count = foldings.count
    foldings.removeAll { folding in
      guard isDone(folding) else { return false }
      folding.finish()
      return true
    }
    // What a batch took of memory is no small part of what an agent at rest may have.
    if foldings.count < count { kura_memory_trim() }
  }
}
