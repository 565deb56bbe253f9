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
    try names(of: vault.path, in: vault.directory, marked: draftMark)
  }

  /// The paths beside a vault that are called like it, a mark and a moment.
  private static func names(
    of path: String, in directory: String, marked mark: String
  ) throws(FileError) -> [String] {
    let start = Array((VaultPath.fileName(of: path) + mark).utf8)
    var found: [String] = []
    for name in try System.names(in: directory) {
      // What SQLite keeps beside a file is none.
      guard name.starts(with: start), name.count == start.count + momentCount,
        let text = String(validating: name, as: UTF8.self)
      else { continue }
      found.append(directory + "/" + text)
    }
    return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Keeps the old vault under another name, with its WAL, and puts the new one in its place. Nobody may have
  /// either open. Whatever ends it amid that, the vault's name has the one or the other.
  ///
  /// - Throws: ``FileError``, `EEXIST` among them: nothing is overwritten. All is as it was then.
  public func perform() throws(FileError) {
    guard System.fileKind(new) == KURA_REGULAR else { throw FileError(errno: ENOENT) }
    try forgetTwins()
    var kept: [String] = []
    do throws(FileError) {
      for suffix in [""] + Self.companions where suffix.isEmpty || isThere(suffix) {
        try keep(suffix)
        kept.append(suffix)
      }
      // The old one is found before its name is another's.
      try settle()
      try removeCompanions()
      if kept.count > 1 { try settle() }
      try FileError.check(Int(System.replace(path, with: new)))
    } catch {
      for suffix in kept where System.move(old + suffix, to: path + suffix) != 0 {
        _ = System.remove(old + suffix)
      }
      throw error
    }
    try settle()
  }

  /// Makes the names beside the vault last.
  private func settle() throws(FileError) {
    try FileError.check(Int(System.syncDirectory(directory)))
  }

  /// What holds a part of a vault beside its file.
  private static let companions = ["-wal", "-journal"]

  private func isThere(_ suffix: String) -> Bool {
    System.fileKind(path + suffix) != KURA_ABSENT
  }

  /// Gives a file of the old vault its other name, too; where a file has one name only, a copy of it has that.
  private func keep(_ suffix: String) throws(FileError) {
    let (from, to) = (path + suffix, old + suffix)
    let failed = System.link(from, as: to)
    guard [-EPERM, -EOPNOTSUPP, -ENOSYS, -EMLINK].contains(failed) else {
      return try FileError.check(Int(failed))
    }
    guard System.fileKind(to) == KURA_ABSENT else { throw FileError(errno: EEXIST) }
    try Self.copy(from, to: to)
  }

  /// Removes what SQLite would play into the new file.
  private func removeCompanions() throws(FileError) {
    for suffix in Self.companions + ["-shm"] {
      let failed = System.remove(path + suffix)
      guard failed != -ENOENT else { continue }
      try FileError.check(Int(failed))
    }
  }

  /// Removes the second names that a replacement which was killed gave the vault, and left to it. One with a WAL that
  /// the vault has no longer stays.
  private func forgetTwins() throws(FileError) {
    for name in try Self.names(of: path, in: directory, marked: Self.oldMark)
    where System.isSameFile(path, name) {
      let kept = Self.companions.filter { System.fileKind(name + $0) != KURA_ABSENT }
      guard kept.allSatisfy({ System.isSameFile(path + $0, name + $0) }) else { continue }
      for suffix in kept + [""] { try FileError.check(Int(System.remove(name + suffix))) }
    }
  }

  /// Makes the directory that the vault is to stand in, where it is missing.
  public func makeDirectory() throws(FileError) {
    try FileError.check(Int(System.makeDirectory(directory)))
  }

  /// Copies a file to ``new``, whole, on the disk, and for this user alone.
  public func copy(from source: String) throws(FileError) { try Self.copy(source, to: new) }

  private static func copy(_ source: String, to target: String) throws(FileError) {
    let descriptor = try Descriptor.open(path: source)
    defer { Descriptor.close(descriptor) }
    var output = try OutputFile.begin(at: target)
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
  public func discard() { Self.discard(new) }

  /// Removes the copies that restores which were cut short have left.
  public func discardCopies() {
    for copy in (try? Self.names(of: path, in: directory, marked: Self.copyMark)) ?? [] {
      Self.discard(copy)
    }
  }

  private static func discard(_ path: String) {
    for suffix in [""] + companions + ["-shm"] { _ = System.remove(path + suffix) }
  }

  /// Gives ``new`` the vault's name, which nothing has; what stands beside that name belongs to no file there,
  /// and is kept as ``perform()`` would.
  public func publish() throws(FileError) {
    for suffix in Self.companions where isThere(suffix) {
      try Self.move(path + suffix, to: old + suffix)
    }
    try removeCompanions()
    try Self.move(new, to: path)
    try settle()
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
