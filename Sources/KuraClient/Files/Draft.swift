// SPDX-License-Identifier: MIT

internal import CKuraSystem
public import SecureMemory

/// Keeps a text in memory while a person edits it. Its end wipes it, and all that the editor left
/// beside it.
///
/// A draft in a directory has a process beside it that wipes it when this one is killed.
public struct Draft: ~Copyable {
  private var draft: kura_draft
  private let directory: String?
  /// The emptied file, while the text is taken away; -1: it is not.
  private var emptied: Int32 = -1

  /// Tells why texts cannot be kept in a directory.
  public enum Refusal: Error, Equatable, Sendable {
    /// What is written there goes to a disk.
    case onDisk
    /// The system refused: errno.
    case system(Int32)
  }

  /// Whether texts can be kept in a directory: it is in memory and the user's alone. It is made where
  /// that in which it is to stand is in memory.
  public static func check(_ directory: String) throws(Refusal) {
    try check(System.checkDraft(directory))
  }

  /// Wipes what stands in a directory that was left by processes that are gone.
  public static func sweep(_ directory: String) { System.sweepDrafts(directory) }

  /// Begins an empty text.
  ///
  /// - Parameter directory: One that ``check(_:)`` allows; nil: in no directory, for an editor that gets
  ///   the ``descriptor``.
  public static func begin(in directory: String?) throws(Refusal) -> Draft {
    var draft = kura_draft()
    try check(System.beginDraft(in: directory, &draft))
    return Draft(draft, in: directory)
  }

  private init(_ draft: kura_draft, in directory: String?) {
    self.draft = draft
    self.directory = directory
  }

  deinit {
    if emptied >= 0 { Descriptor.close(emptied) }
    System.endDraft(draft)
  }

  static func check(_ result: Int32) throws(Refusal) {
    if result == Int32(KURA_DRAFT_ON_DISK) { throw .onDisk }
    if result < 0 { throw .system(-result) }
  }
}

// MARK: - What an editor needs, and leaves

extension Draft {
  /// What the editor is to inherit; -1: nothing.
  public var descriptor: Int32 { directory == nil ? draft.file : -1 }

  /// The path by which the editor opens the text.
  public var path: String {
    guard let path = try? System.draftPath(draft, in: directory) else { return "" }
    return String(decoding: path, as: UTF8.self)
  }

  /// Writes the text, before the editor is started.
  public func write(_ text: Span<UInt8>) throws(FileError) {
    try Descriptor.write(text, to: draft.file)
  }

  /// Reads what stands at the path now; an editor may have put another file there.
  ///
  /// - Parameters:
  ///   - text: Is replaced.
  ///   - limit: The most bytes that are taken; more is `EFBIG`.
  public func read(into text: inout SecretBuffer, limit: Int) throws(FileError) {
    let file = System.readDraft(draft)
    try FileError.check(Int(file))
    defer { Descriptor.close(file) }
    text.removeAll()
    while true {
      let room = min(limit + 1 - text.count, 65_536)
      guard room > 0 else { throw FileError(errno: FileError.tooLarge) }
      do throws(SecureMemoryError) { try text.reserve(room) } catch {
        throw FileError(errno: ENOMEM)
      }
      if try Descriptor.read(file, into: &text, upTo: room) == 0 { return }
    }
  }
}

// MARK: - Out of sight

extension Draft {
  /// Takes the text away that stands at the path now, until ``giveBack(_:)``.
  ///
  /// - Parameters:
  ///   - text: Is replaced.
  ///   - limit: As for ``read(into:limit:)``.
  /// - Throws: Why it stays where it is.
  public mutating func takeAway(into text: inout SecretBuffer, limit: Int) throws(FileError) {
    try read(into: &text, limit: limit)
    let file = System.emptyDraft(&draft)
    try FileError.check(Int(file))
    emptied = file
  }

  /// Puts a text back that was taken away, in a file that looks as it did.
  public mutating func giveBack(_ text: Span<UInt8>) throws(FileError) {
    guard emptied >= 0 else { return }
    defer {
      System.settleDraft(draft, emptied)
      emptied = -1
    }
    try Descriptor.write(text, to: emptied)
  }
}
