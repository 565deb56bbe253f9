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
  private var size = 0
  /// Whether what stands under the name of the draft is to go where this comes to nothing.
  private var isOurs = true

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
    size += bytes.count
    file.beginSync()
  }

  /// Has all bytes on the disk.
  func sync(in path: String) throws(StoreError) { try file.sync(in: path) }

  /// Gives it its name, in the place of what has it.
  func name(in path: String) throws(StoreError) {
    // Another program that writes the same file may have begun it anew, and come no further.
    guard folder.size(of: draft) == size else {
      isOurs = false
      throw .system(errno: EBUSY, path: path)
    }
    try folder.rename(draft, to: wanted, in: path)
    isOurs = false
  }

  /// Takes away what a program that was killed has left beside it: an object is sealed anew then, and gets another name.
  func sweep(in path: String) { Self.sweep(folder, now: time, in: path) }

  /// When it got its name, by the clock of who keeps the folder; nil where that is not known.
  var time: Int? { folder.time(of: wanted) }

  /// Takes away what programs that were killed have left in a folder.
  ///
  /// - Parameter now: The time by the clock of who keeps the folder; nil where it is not known, and nothing goes.
  static func sweep(_ folder: FolderHandle, now: Int?, in path: String) {
    guard let now, let names = try? folder.names(in: path, isHidden: true) else { return }
    for other in names where isDraft(other) {
      guard let time = folder.time(of: other) else { continue }
      // One that is younger may be under way, and comes to nothing without it. No clock that is right tells of what
      // comes, so that this was left under one that was wrong.
      if time < now &- day || time > now &+ day { folder.remove(other) }
    }
  }

  private static let day = 86_400

  /// Whether a name is that of an object that is being written: others that carry the folder have hidden files of theirs.
  private static func isDraft(_ name: String) -> Bool {
    name.utf8.count == 65
      && name.utf8.dropFirst().allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }
  }

  /// Takes it away where it has not got its name.
  func discard() {
    if isOurs { folder.remove(draft) }
  }
}
