// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Makes a vault's file short. It needs nothing of the loop's.
private final class CompactionJob: Job {
  private let compaction: Compaction

  init(_ compaction: Compaction) { self.compaction = compaction }

  func run() { compaction.run() }
}

/// Serves `compact`: tells how far a thread of its own has come, and then what it gave back. It ends with its
/// client.
final class VaultCompaction: Stream {
  /// Between two looks at it, in milliseconds.
  private static let pause: UInt64 = 100

  let session: Session
  let isUse = false
  private(set) var due: UInt64 = 0
  private let compaction: Compaction
  private let clock: AgentConfiguration
  /// No other vault's lock or WAL waits for it, so it has none of the agent's threads.
  private let worker: Worker

  init(
    _ compaction: Compaction, of session: Session, _ configuration: AgentConfiguration
  ) throws(AgentError) {
    self.compaction = compaction
    self.session = session
    clock = configuration
    worker = try Worker()
    worker.start(CompactionJob(compaction))
  }

  deinit { compaction.stop() }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    guard let outcome = compaction.outcome else {
      due = clock.clock().monotonic + Self.pause
      let (done, total) = compaction.progress
      try write { () throws(ProtocolError) in
        try outbox.frames.putProgress(done: done, total: total)
      }
      return true
    }
    let sizes = try outcome.get()
    try write { () throws(ProtocolError) in
      guard let sizes else { return try outbox.frames.putRefusal(.walKept, as: .end) }
      let count = sizes.before - min(sizes.before, sizes.after)
      try outbox.frames.putSpace(SpaceReport(count: count, length: sizes.after))
      try outbox.frames.putEnd()
    }
    return false
  }
}

extension Agent {
  /// Begins to make a vault's file short.
  func compact(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard !session.isCompacting else { throw .compacting }
    let compaction = try work(on: session) { vault throws(VaultError) in try vault.compaction() }
    do throws(AgentError) {
      let stream = try VaultCompaction(compaction, of: session, configuration)
      connection.phase = .sending(stream)
    } catch { throw .outOfMemory }
    session.compaction = compaction
  }
}
