// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import Synchronization

/// Remembers the newest state of each vault that an engine had unlocked, for as long as the engine runs: an older
/// copy is refused after a lock, too, whatever became of the seen file. It holds no secret.
public final class VaultMemory: Sendable {
  private let states = Mutex<[VaultID: SeenRecord]>([:])

  /// Nothing is remembered yet.
  public init() {}

  func state(of vault: VaultID) -> SeenRecord? { states.withLock { $0[vault] } }

  func note(_ state: SeenRecord) { states.withLock { $0[state.vault] = state } }
}
