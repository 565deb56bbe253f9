// SPDX-License-Identifier: MIT

internal import KuraClient

/// Sees to it that a process gets the value of an item once: a program that asks again was refused with
/// it, and accounts are closed to who tries a wrong password too often.
enum GivenAnswer {
  /// Notes that the process which asks is given an item's value.
  ///
  /// - Parameter revision: The value's: a new one is another answer.
  /// - Returns: Whether it was not given before.
  static func note(_ name: String, _ revision: UInt64) throws(CommandError) -> Bool {
    let directory: String
    do throws(PathError) { directory = try UserDirectory.runtime() + "/answered" } catch {
      throw .path(error)
    }
    let result = System.noteAnswer(in: directory, digest(name, revision))
    guard result >= 0 else { throw .file(.write, path: directory, errno: -result) }
    return result == 1
  }

  /// FNV-1a. It tells items apart and hides nothing: the directory is the user's alone.
  private static func digest(_ name: String, _ revision: UInt64) -> UInt64 {
    let bytes = Array(name.utf8) + (0..<8).map { UInt8(truncatingIfNeeded: revision >> ($0 * 8)) }
    return bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
