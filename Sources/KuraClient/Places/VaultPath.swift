// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Tells where a vault stands.
public struct VaultPath: Equatable, Sendable {
  /// The absolute path; `.` and empty components are dropped, links are not followed.
  public let path: String

  /// The vault's name when it stands where named vaults do.
  public let name: String?

  /// The name of the vault that is meant when none is given.
  public static let standardName = "default"

  static let suffix = ".kura"

  /// The vault meant by `--vault`, else by `$KURA_VAULT`, else the one named `default`.
  ///
  /// - Parameter given: A path, when it has a `/` or ends in `.kura`; else a name.
  public static func resolve(_ given: String?) throws(PathError) -> VaultPath {
    let text = if let given { given } else { try Environment.name("KURA_VAULT") ?? standardName }
    guard !text.isEmpty else { throw .empty }
    return isPath(text) ? try VaultPath(at: text) : try named(text)
  }

  /// The vault with that name: `$XDG_DATA_HOME/kura/NAME.kura`.
  public static func named(_ name: String) throws(PathError) -> VaultPath {
    guard let first = name.utf8.first else { throw .empty }
    let isPlain =
      first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    guard isPlain else { throw .nameInvalid(name) }
    // What a directory entry holds, less the suffix and SQLite's `-wal`.
    guard name.utf8.count <= 240 else { throw .tooLong(limit: 240) }
    let path = try UserDirectory.data() + "/" + name + suffix
    return try VaultPath(path: path, name: name)
  }

  /// The vault at a path; a relative one is joined to the working directory.
  public init(at path: String) throws(PathError) {
    guard let first = path.utf8.first else { throw .empty }
    let start = first == UInt8(ascii: "/") ? "" : try Self.workingDirectory()
    try self.init(path: Self.cleaned(start + "/" + path), name: nil)
  }

  /// Whether something stands there.
  public var isThere: Bool { System.fileKind(path) != KURA_ABSENT }

  /// Whether that is a file, or a symbolic link to one.
  public var isFile: Bool { System.fileKind(path) == KURA_REGULAR }

  /// Whether SQLite's WAL stands beside it: an engine has it open, or was killed.
  public var hasWAL: Bool { System.fileKind(path + "-wal") != KURA_ABSENT }

  private init(path: String, name: String?) throws(PathError) {
    guard path.utf8.count <= ProtocolLimit.path - 1 else {
      throw .tooLong(limit: ProtocolLimit.path - 1)
    }
    self.path = path
    self.name = name
  }

  private static func isPath(_ text: String) -> Bool {
    text.utf8.contains(UInt8(ascii: "/"))
      || text.utf8.reversed().starts(with: suffix.utf8.reversed())
  }

  private static func workingDirectory() throws(PathError) -> String {
    let directory: [UInt8]
    do throws(FileError) { directory = try System.currentDirectory() } catch {
      throw .noWorkingDirectory(error.errno)
    }
    return try PathText.checked(directory, "the working directory")
  }

  /// The same path to everybody who asks the agent for it.
  private static func cleaned(_ path: String) -> String {
    var clean = ""
    for component in path.utf8.split(separator: UInt8(ascii: "/")) {
      guard let text = String(component), text != "." else { continue }
      clean += "/" + text
    }
    return clean
  }
}
