// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Shows that `kura-desktop` runs, and lets one run at a time: a file beside the agent's socket that it holds locked.
public enum DesktopMark {
  /// What ``take(in:)`` answers where another process holds the mark.
  public static let isTaken = -EBUSY

  /// Holds the mark until the process ends.
  ///
  /// - Parameter directory: Where an agent that is started listens.
  /// - Returns: A descriptor, or a negated errno.
  public static func take(in directory: String) -> Int32 { System.takeMark(in: directory) }

  /// The process that holds the mark; nil for none.
  public static func holder() -> Int32? {
    guard let directory = try? UserDirectory.runtime() else { return nil }
    let process = System.markHolder(in: directory)
    return process > 0 ? process : nil
  }
}
