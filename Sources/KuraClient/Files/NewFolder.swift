// SPDX-License-Identifier: MIT

/// Fills a directory that appears whole, with mode 0700, or not at all.
public struct NewFolder: ~Copyable {
  /// Where it is filled: beside the path that it is to have.
  public let path: String
  private let target: String
  private var isWhole = false

  /// Begins one; nothing is seen of it yet at its path.
  ///
  /// - Throws: ``FileError``; also where something stands at the path.
  public static func begin(at target: String) throws(FileError) -> NewFolder {
    let kind = System.fileKind(target)
    if kind != 0 { throw FileError(errno: kind < 0 ? -kind : FileError.exists) }
    let (path, failed) = System.beginDirectory(target)
    try FileError.check(failed)
    return NewFolder(path, target)
  }

  private init(_ path: String, _ target: String) { (self.path, self.target) = (path, target) }

  deinit { if !isWhole { _ = System.clearDirectory(path) } }

  /// Makes a directory in it, where there is none.
  ///
  /// - Parameter name: Its path within this one; what it stands in is there.
  public func add(_ name: String) throws(FileError) {
    try FileError.check(Int(System.addDirectory(path + "/" + name)))
  }

  /// Puts it, whole and durable, at its path.
  ///
  /// - Throws: ``FileError``; nothing is left then.
  public consuming func commit() throws(FileError) {
    try FileError.check(Int(System.settleDirectory(path)))
    try FileError.check(Int(System.move(path, to: target)))
    isWhole = true
  }
}
