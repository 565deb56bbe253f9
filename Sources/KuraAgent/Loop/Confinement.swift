// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Keeps an agent that stays from what it never does: becoming another program, looking into other
/// processes, talking to a network.
enum Confinement {
  /// Confines the process for good; to be called while there is one thread.
  ///
  /// - Returns: Whether the kernel lets it; an agent goes on in any case, and `doctor` tells.
  @discardableResult
  static func apply() -> Bool { kura_confine() == 0 }

  /// Whether this process was confined.
  static var holds: Bool { kura_is_confined() == 1 }
}
