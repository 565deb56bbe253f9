// SPDX-License-Identifier: MIT

internal import KuraStorage

/// What a batch left in the journal, to be moved into the vault's file: it takes no key and as long as
/// the disk does, and others read and write meanwhile.
///
/// Unchecked: it is handed from one thread to another and back, so that one has it at a time.
public final class JournalWork: @unchecked Sendable {
  private var storage: Storage?

  fileprivate init(_ storage: consuming Storage) { self.storage = consume storage }

  /// Moves what no reader needs any more.
  ///
  /// What fails is tried again by whoever commits next, and when the file is closed.
  public func run() { try? storage?.checkpoint() }

  /// Closes the connection that it was done on; the last one of a file leaves no journal.
  public func close() { storage = nil }
}

extension PutBatch {
  /// What is left to do once it is committed; nil when there is nothing, or the journal is short.
  public mutating func takeJournal() -> JournalWork? {
    guard isCommitted, let own = rows.take(), own.storage.isJournalDue else { return nil }
    return JournalWork(own.finish())
  }
}
