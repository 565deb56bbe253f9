// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraVault
internal import Synchronization

/// Leaves a vault that was locked as one whole file, on a thread of its own: writes what was noted at the lock,
/// moves the WAL into the file and closes it. It needs no key.
final class Closing: Job {
  /// Tells what became of the file.
  enum Outcome: Equatable, Sendable {
    /// All is in it, on the disk, and the agent has it open no more.
    case whole
    /// Another process reads or writes, so that the WAL has something that the file has not.
    case held
    case failed(VaultError)

    init(_ error: VaultError) { self = error == .busy ? .held : .failed(error) }
  }

  /// How often another process is waited for, and how long each time, in microseconds.
  private static let tries = 100
  private static let pause: UInt32 = 10_000

  private struct Papers: ~Copyable {
    var vault: LockedVault?
    var notes: LockNotes?
    var outcome: Outcome?
    var lostEntries: UInt64 = 0
  }

  private let papers: Mutex<Papers>
  /// The vault's file.
  let path: String
  /// What the file says without a key, for whoever asks meanwhile.
  let slots: [SlotSummary]
  /// What made the file short when the vault was locked. It has been told to stop, which it cannot in its last part.
  private weak let compaction: Compaction?
  /// What copies the file, which keeps its WAL as long.
  private weak let backup: Backup?

  init(
    _ vault: consuming LockedVault, _ notes: LockNotes? = nil, after compaction: Compaction? = nil,
    _ backup: Backup? = nil
  ) {
    path = vault.path
    slots = vault.slots
    self.compaction = compaction
    self.backup = backup
    papers = Mutex(Papers(vault: consume vault, notes: notes))
  }

  /// What became of the file; nil until that is known.
  var outcome: Outcome? { papers.withLock { $0.outcome } }

  /// Entries of the access log that could not be written.
  var lostEntries: UInt64 { papers.withLock { $0.lostEntries } }

  func mayBegin() -> Bool {
    let isCompacting = compaction?.isUnderWay == true
    let isCopied = backup?.holdsVault == true
    return !isCompacting && !isCopied
  }

  /// Does it, unless that was done before.
  func run() {
    // An agent that ends has nothing else to do meanwhile.
    while !mayBegin() { usleep(Self.pause) }
    guard var vault = papers.withLock({ $0.vault.take() }) else { return }
    let notes = papers.withLock { $0.notes }
    let lost = notes?.write() ?? 0
    var outcome = Closing.checkpoint(&vault)
    for _ in 1..<Self.tries where outcome == .held {
      usleep(Self.pause)
      outcome = Closing.checkpoint(&vault)
    }
    // The last connection takes the empty WAL away.
    _ = consume vault
    papers.withLock { papers in
      papers.lostEntries = lost
      papers.outcome = outcome
    }
  }

  private static func checkpoint(_ vault: inout LockedVault) -> Outcome {
    do throws(VaultError) {
      try vault.checkpoint()
      return .whole
    } catch { return Outcome(error) }
  }
}

/// Waits until the vaults that a client had locked are whole files.
struct ClosingWait {
  let closings: [Closing]
  /// When the client is told that it takes longer, on the monotonic clock.
  let deadline: UInt64

  /// Whether what became of each file is known.
  var isOver: Bool { closings.allSatisfy { $0.outcome != nil } }
}
