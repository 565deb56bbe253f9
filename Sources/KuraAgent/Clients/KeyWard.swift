// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Synchronization

/// Holds what speaks to a security key for a client, to hang up when nobody waits for a touch any more; the loop and the
/// worker share it.
final class KeyWard: Sendable {
  private struct Held {
    var descriptor: Int32 = -1
    var isOver = false
  }

  private let held = Mutex(Held())

  /// Takes hold of a socket that is about to be spoken by.
  ///
  /// - Returns: False where nobody waits any more.
  func hold(_ descriptor: Int32) -> Bool {
    held.withLock { held in
      guard !held.isOver else { return false }
      held.descriptor = descriptor
      return true
    }
  }

  /// Lets go of it, before it is closed.
  func release() { held.withLock { $0.descriptor = -1 } }

  /// Hangs up, now and whenever it is spoken again.
  func end() {
    held.withLock { held in
      held.isOver = true
      if held.descriptor >= 0 { kura_hardware_hang_up(held.descriptor) }
    }
  }
}
