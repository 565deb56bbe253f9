// SPDX-License-Identifier: MIT

internal import KuraStorage

/// The work of moving a vault's journal into its file, for another thread; it takes no key.
///
/// Who asked for one runs it: from a certain length of the journal on a long value waits for its end.
public struct JournalMove: Sendable {
  private let move: KuraStorage.JournalMove

  init(_ move: KuraStorage.JournalMove) { self.move = move }

  /// Does it; where that fails, a later move or the end of the vault does.
  public func run() { move.run() }
}

extension UnlockedVault {
  /// The move that the journal has become long enough for; nil when there is none to do. Ask after each
  /// change: from the first time on, no change waits for the disk longer than its own durability takes.
  public mutating func takeJournalMove() -> JournalMove? {
    rows.storage.takeJournalMove().map { JournalMove($0) }
  }
}
