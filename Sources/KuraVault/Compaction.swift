// SPDX-License-Identifier: MIT

internal import KuraStorage
internal import Synchronization

/// Makes a vault's file as short as what is in it; the work is for another thread, and takes no key.
///
/// The vault is whole as it was until it is done, and whole after it, whatever happens in between. Others read
/// meanwhile; what they write finds the vault busy.
public final class Compaction: Sendable {
  /// Says how long a vault's file was, and is, in bytes.
  public struct Sizes: Equatable, Sendable {
    /// Before the work began.
    public let before: UInt64
    /// When it was done.
    public let after: UInt64
  }

  private let work: KuraStorage.Compaction
  private let result = Mutex<Result<Sizes?, VaultError>?>(nil)

  init(at path: String) { work = KuraStorage.Compaction(at: path) }

  /// Does it, and keeps what came of it.
  public func run() {
    let outcome: Result<Sizes?, VaultError>
    do throws(StorageError) {
      outcome = .success(try work.run().map { Sizes(before: $0.before, after: $0.after) })
    } catch { outcome = .failure(VaultError(error)) }
    result.withLock { $0 = outcome }
  }

  /// Undoes what is not committed, soon.
  public func stop() { work.stop() }

  /// What it has done, and all that there is to do, in parts of the file.
  public var progress: (done: UInt64, total: UInt64) { work.progress }

  /// What came of it; nil while it is under way, and success without sizes where another program reads an older
  /// state, so that the file becomes shorter later.
  ///
  /// ``VaultError/busy``: another engine writes. ``VaultError/diskFull`` and others of the file: nothing is
  /// changed.
  public var outcome: Result<Sizes?, VaultError>? { result.withLock { $0 } }

  /// Whether the compaction may still read or write the file.
  public var isUnderWay: Bool { outcome == nil }
}

extension UnlockedVault {
  /// The work of giving back what the vault's file no longer needs; for whoever has the thread for it.
  public func compaction() throws(VaultError) -> Compaction {
    try checkInPlace()
    return Compaction(at: place.path)
  }

  /// How many bytes of the file nothing stands in, and how many it has.
  public mutating func space() throws(VaultError) -> (free: UInt64, all: UInt64) {
    let space = try fromStorage(rows.storage.space())
    return (UInt64(space.free), UInt64(space.all))
  }
}
