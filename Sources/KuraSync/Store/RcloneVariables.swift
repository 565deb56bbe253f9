// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraClient

/// Knows the variables by which rclone would do something else than what it is asked for: each of its options has one.
enum RcloneVariables {
  /// The first words of the options that say what is read, written and told, as in `RCLONE_DRY_RUN`. The configuration,
  /// the network and all that begins with the name of a back end, as credentials do, stays.
  private static let words: Set<String> = [
    "ABSOLUTE", "BACKUP", "CHECKSUM", "COMPARE", "COUNT", "CSV", "DELETE", "DIRS", "DISCARD", "DRY",
    "DUMP", "ERROR", "EXCLUDE", "FILES", "FILTER", "FORMAT", "HASH", "HEAD", "HUMAN", "IGNORE",
    "IMMUTABLE", "INCLUDE", "INTERACTIVE", "LOG", "MAX", "METADATA", "MIN", "NAME", "OFFSET",
    "PROGRESS", "QUIET", "RC", "RECURSIVE", "SEPARATOR", "SIZE", "STATS", "SUFFIX", "SYSLOG",
    "TAIL",
    "UPDATE", "VERBOSE",
  ]
  /// Those of which the first word says nothing.
  private static let names: Set<String> = ["RCLONE_COPY_DEST", "RCLONE_USE_JSON_LOG"]

  /// Whether rclone is not to see a variable.
  static func isDropped(_ name: String) -> Bool {
    let parts = name.split(separator: "_")
    guard parts.count > 1, parts[0] == "RCLONE" else { return false }
    return words.contains(String(parts[1])) || names.contains(name)
  }

  /// Takes them out of the environment of this program, which has no use for them.
  static func drop() {
    var found: [String] = []
    System.visitVariables { variable in
      var name: [UInt8] = []
      for index in variable.indices {
        if variable[index] == UInt8(ascii: "=") { break }
        name.append(variable[index])
      }
      let text = String(decoding: name, as: UTF8.self)
      if isDropped(text) { found.append(text) }
    }
    for name in found { unsafe unsetenv(name) }
  }
}
