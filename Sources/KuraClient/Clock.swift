// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Tells the time, for people.
public enum Clock {
  /// Now, in ms of Unix time.
  public static func unix() -> UInt64 {
    System.moment().wall
  }

  /// The time since boot, sleep included, in ms.
  public static func boot() -> UInt64 {
    System.moment().boot
  }

  /// A time where the user is, by a format of strftime(3).
  ///
  /// - Parameters:
  ///   - milliseconds: Unix time.
  ///   - format: As `%H:%M`.
  /// - Returns: The text; empty when it has more than 128 bytes.
  public static func local(_ milliseconds: UInt64, _ format: String) -> String {
    guard let bytes = try? System.localTime(milliseconds, format) else { return "" }
    return String(repairing: bytes.span)
  }
}

/// Says what the system's error numbers mean.
public enum SystemMessage {
  /// An errno in words: `No space left on device`.
  public static func text(_ errno: Int32) -> String {
    System.errorText(errno)
  }
}
