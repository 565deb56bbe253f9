// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Synchronization

/// Holds what speaks to hardware for a client, to end that when nobody waits for it any more; the loop and the worker share it.
final class HardwareWard: Sendable {
  private struct Held {
    var descriptor: Int32 = -1
    var process: Int32 = -1
    var isOver = false
  }

  private let held = Mutex(Held())

  /// Takes hold of a socket that is about to be spoken by.
  ///
  /// - Parameter process: Whom it leads to, where that is ended at once; -1 where he ends by himself, as who has to tell a
  ///   security key to blink no longer.
  /// - Returns: False where nobody waits any more.
  func hold(_ descriptor: Int32, _ process: Int32) -> Bool {
    held.withLock { held in
      guard !held.isOver else { return false }
      (held.descriptor, held.process) = (descriptor, process)
      return true
    }
  }

  /// Lets go of it, before it is closed.
  func release() { held.withLock { ($0.descriptor, $0.process) = (-1, -1) } }

  /// Hangs up, now and whenever it is spoken again, and ends who is spoken to.
  func end() {
    held.withLock { held in
      held.isOver = true
      if held.descriptor >= 0 { kura_helper_end(held.descriptor, held.process) }
    }
  }
}
