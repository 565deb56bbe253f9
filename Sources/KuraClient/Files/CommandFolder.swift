// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Keeps files under names of their own for the program that this process becomes: in a directory in
/// memory that a process beside it wipes and removes at its end, whatever ends it.
public struct CommandFolder: ~Copyable {
  private let folder: kura_draft
  /// The directory's path.
  public let path: String

  /// Makes one.
  ///
  /// - Parameter directory: What it is to stand in, which ``Draft/check(_:)`` allows.
  public static func make(in directory: String) throws(Draft.Refusal) -> CommandFolder {
    var folder = kura_draft()
    try Draft.check(System.beginFolder(in: directory, &folder))
    let path = (try? System.draftPath(folder, in: directory)) ?? []
    return CommandFolder(folder, String(decoding: path, as: UTF8.self))
  }

  private init(_ folder: kura_draft, _ path: String) {
    self.folder = folder
    self.path = path
  }

  deinit { System.endDraft(folder) }

  /// Adds an empty file, 0600, close-on-exec.
  ///
  /// - Parameter name: One part of a path.
  /// - Returns: Its descriptor.
  public func add(_ name: String) throws(FileError) -> Int32 {
    let descriptor = System.addFile(name, to: folder)
    try FileError.check(Int(descriptor))
    return descriptor
  }
}
