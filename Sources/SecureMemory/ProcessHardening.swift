// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Keeps a process that holds secrets out of core dumps and debuggers; it is the first thing that one does.
public enum ProcessHardening {
  /// Makes the process undumpable, with no core file, umask 077 and crash signals back to default,
  /// so that no backtracer prints memory.
  ///
  /// - Returns: The umask as it was, for the programs that this process starts.
  @discardableResult
  public static func apply() -> UInt32 { kura_harden_process() }
}

/// Says how much of the arena the kernel keeps out of swap, for `status` and `doctor`.
public struct LockedMemory: Equatable, Sendable {
  /// Bytes that mlock(2) holds in memory.
  public let lockedByteCount: Int

  /// Bytes for which mlock(2) failed, mostly by `RLIMIT_MEMLOCK`; they may reach swap.
  public let unlockedByteCount: Int

  /// The figures of this process, now.
  public static var status: LockedMemory {
    let status = kura_secret_status()
    return LockedMemory(
      lockedByteCount: Int(status.locked), unlockedByteCount: Int(status.unlocked))
  }
}
