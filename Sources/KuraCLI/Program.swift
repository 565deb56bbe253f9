// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient

/// Finds programs: those that belong to this one, and others.
enum Program {
  /// The path of a program beside this one, or where it is installed; nil where it is not. Never by
  /// PATH: what stands there first would get a passcode.
  static func path(of name: String) -> String? {
    guard let own = ownPath(), let directory = parent(of: own) else { return nil }
    let candidates = [
      directory + "/" + name, (parent(of: directory) ?? "") + "/libexec/kura/" + name,
    ]
    return candidates.first { System.isExecutable($0) }
  }

  /// The file of somebody else's program; a name with a slash is one already.
  static func look(for name: String, _ directories: String?) -> String? {
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

  private static func ownPath() -> String? {
    (try? System.programPath()).flatMap { String(validating: $0, as: UTF8.self) }
  }

  private static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return String(path[..<slash])
  }
}
