// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraStore

/// Holds a file that is being written under a name of its own, until it is on the disk and gets the name that it is to
/// have: a name stands for all of a file.
final class FolderDraft {
  let folder: FolderHandle
  /// The name that it is to have.
  let wanted: String
  private let file: FolderFile
  private var isNamed = false

  /// Of one that was killed nothing stays for ever: it has the same name.
  private var draft: String { "." + wanted }

  /// Begins a file.
  ///
  /// - Parameters:
  ///   - name: The name that it is to have.
  ///   - folder: Where it is to stand.
  ///   - mode: Its permissions.
  ///   - path: What is told of where it went wrong.
  init(
    _ name: String, in folder: FolderHandle, _ mode: mode_t, _ path: String
  ) throws(StoreError) {
    (self.folder, wanted) = (folder, name)
    file = try folder.create("." + name, mode, in: path)
  }

  /// Writes all bytes, which the disk begins to take.
  func write(_ bytes: [UInt8], in path: String) throws(StoreError) {
    try file.write(bytes, in: path)
    file.beginSync()
  }

  /// Has all bytes on the disk.
  func sync(in path: String) throws(StoreError) { try file.sync(in: path) }

  /// Gives it its name, in the place of what has it.
  func name(in path: String) throws(StoreError) {
    try folder.rename(draft, to: wanted, in: path)
    isNamed = true
  }

  /// Takes it away where it has not got its name.
  func discard() {
    if !isNamed { folder.remove(draft) }
  }
}
