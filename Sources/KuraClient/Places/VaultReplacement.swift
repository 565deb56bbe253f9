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
  ///   - isRestored: Whether the new one is a backup.
  public init(of vault: VaultPath, at milliseconds: UInt64, isRestored: Bool = false) {
    var moment = milliseconds
    // Two in the same second have names of their own.
    while System.fileKind(vault.path + Self.oldMark + Self.text(moment)) != KURA_ABSENT,
      moment < milliseconds + 60_000
    { moment += 1_000 }
    let time = Self.text(moment)
    path = vault.path
    directory = vault.directory
    new = path + (isRestored ? Self.copyMark : Self.draftMark) + time
    old = path + Self.oldMark + time
  }

  private static func text(_ milliseconds: UInt64) -> String {
    Clock.local(milliseconds, "%Y%m%d-%H%M%S")
  }

  static let draftMark = ".reset-"
  private static let copyMark = ".restore-"
  private static let oldMark = ".old-"
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

  /// Makes the directory that the vault is to stand in, where it is missing.
  public func makeDirectory() throws(FileError) {
    try FileError.check(Int(System.makeDirectory(directory)))
  }

  /// Copies a file to ``new``, whole, on the disk, and for this user alone.
  public func copy(from source: String) throws(FileError) {
    let descriptor = try Descriptor.open(path: source)
    defer { Descriptor.close(descriptor) }
    var output = try OutputFile.begin(at: new)
    var room = [UInt8](repeating: 0, count: 131_072)
    while true {
      var span = room.mutableSpan
      let count = System.read(descriptor, into: &span)
      try FileError.check(count)
      guard count > 0 else { break }
      try output.write(room.span.extracting(first: count))
    }
    try output.commit()
  }

  /// Removes ``new``, and what SQLite keeps beside it.
  public func discard() {
    for suffix in ["", "-wal", "-shm", "-journal"] { _ = System.remove(new + suffix) }
  }

  /// Gives ``new`` the vault's name, which nothing has.
  public func publish() throws(FileError) {
    try Self.move(new, to: path)
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
