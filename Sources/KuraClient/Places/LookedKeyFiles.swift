// SPDX-License-Identifier: MIT

/// Tells of the key files that this machine tries by itself: a lock holds them back even where no agent runs.
public enum LookedKeyFiles {
  /// Whether there is any.
  public static var areThere: Bool {
    guard let state = try? UserDirectory.state(),
      let names = try? System.names(in: state + "/device")
    else { return false }
    return names.contains { $0.reversed().starts(with: ".auto".utf8.reversed()) }
  }
}
