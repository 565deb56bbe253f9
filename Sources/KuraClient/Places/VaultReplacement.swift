// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Puts a new vault in the place of an old one, whose file keeps all it has under another name.
public struct VaultReplacement: Sendable {
  private let path: String
  private let directory: String

  /// Where the new vault is to be made first.
  public let new: String

  /// Where the old one stands afterwards: `NAME.kura.old-YYYYMMDD-HHMMSS`, by the local time.
  public let old: String

  /// The names for a replacement that begins now.
  ///
  /// - Parameters:
  ///   - vault: The vault that is to be replaced.
  ///   - milliseconds: Now, in ms of Unix time.
  public init(of vault: VaultPath, at milliseconds: UInt64) {
    let time = Clock.local(milliseconds, "%Y%m%d-%H%M%S")
    path = vault.path
    directory = vault.directory
    new = path + Self.draftMark + time
    old = path + ".old-" + time
  }

  static let draftMark = ".reset-"
  /// The bytes of `YYYYMMDD-HHMMSS`.
  static let momentCount = 15

  /// The paths of new vaults that stand beside a vault because a reset of it was cut short, or is
  /// under way. Nothing but an empty vault is in any of them.
  ///
  /// - Throws: ``FileError`` when the directory cannot be read.
  public static func drafts(of vault: VaultPath) throws(FileError) -> [String] {
    let start = Array((vault.fileName + draftMark).utf8)
    var found: [String] = []
    for name in try System.names(in: vault.directory) {
      // What SQLite keeps beside a file is none.
      guard name.starts(with: start), name.count == start.count + momentCount,
        let text = String(validating: name, as: UTF8.self)
      else { continue }
      found.append(vault.directory + "/" + text)
    }
    return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Moves the old vault aside, with its WAL, and the new one in its place. Nobody may have
  /// either open.
  ///
  /// - Throws: ``FileError``, `EEXIST` among them: nothing is overwritten. What was moved is moved
  ///   back.
  public func perform() throws(FileError) {
    var moved: [String] = []
    do throws(FileError) {
      try Self.move(path, to: old)
      moved.append("")
      // SQLite would play a WAL that stayed into the new file.
      for suffix in ["-wal", "-shm", "-journal"] {
        let failed = System.move(path + suffix, to: old + suffix)
        if failed == -ENOENT { continue }
        try FileError.check(Int(failed))
        moved.append(suffix)
      }
      try Self.move(new, to: path)
    } catch {
      for suffix in moved.reversed() { _ = System.move(old + suffix, to: path + suffix) }
      throw error
    }
    try FileError.check(Int(System.syncDirectory(directory)))
  }

  private static func move(_ from: String, to: String) throws(FileError) {
    try FileError.check(Int(System.move(from, to: to)))
  }
}

extension VaultPath {
  /// The directory the vault stands in.
  var directory: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
      return "/"
    }
    return String(path[..<slash])
  }

  /// The name of the vault's file.
  public var fileName: String { Self.fileName(of: path) }

  /// What stands behind the last `/` of a path.
  public static func fileName(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }
}
