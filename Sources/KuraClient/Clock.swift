// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// The time, for people.
public enum Clock {
  /// Now, in ms of Unix time.
  public static func unix() -> UInt64 {
    var now = kura_moment()
    unsafe kura_moment_now(&now)
    return now.wall
  }

  /// The time since boot, sleep included, in ms.
  public static func boot() -> UInt64 {
    var now = kura_moment()
    unsafe kura_moment_now(&now)
    return now.boot
  }

  /// A time where the user is, by a format of strftime(3).
  ///
  /// - Parameters:
  ///   - milliseconds: Unix time.
  ///   - format: As `%H:%M`.
  /// - Returns: The text; empty when it has more than 128 bytes.
  public static func local(_ milliseconds: UInt64, _ format: String) -> String {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe kura_local_time(milliseconds, format, $0.baseAddress!, $0.count)
    }
    return String(repairing: bytes.span.extracting(first: count))
  }
}

/// What the system's error numbers mean.
public enum SystemMessage {
  /// An errno in words: `No space left on device`.
  public static func text(_ errno: Int32) -> String {
    unsafe String(cString: kura_error_text(errno))
  }
}
