// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Finds other people's programs.
package enum Program {
  /// The file of somebody else's program; a name with a slash is one already.
  package static func look(for name: String, _ directories: String?) -> String? {
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    for directory in (directories ?? "").utf8.split(separator: UInt8(ascii: ":")) {
      let path = String(Substring(directory)) + "/" + name
      guard System.fileKind(path) == KURA_REGULAR, System.isExecutable(path) else {
        continue
      }
      return path
    }
    return nil
  }
}
