// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient

/// Runs another program to its end, and takes what it writes.
enum ProgramOutput {
  /// How long it may take to end once it has written all, in ms.
  private static let patience: Int32 = 60_000

  /// All that it writes to its standard output, and its exit status.
  ///
  /// - Parameter words: Its arguments, its own name first.
  /// - Returns: Nil where it cannot be started, or writes more than a source may have.
  static func read(
    _ program: String, _ words: [String]
  ) -> (status: Int32, content: [UInt8])? {
    guard
      let child = System.startClipboard(
        program, words, end: Int32(KURA_CLIP_LISTENS), directory: nil)
    else { return nil }
    defer { kura_socket_close(child.descriptor) }
    var content: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      var span = room.mutableSpan
      let count = System.read(child.descriptor, into: &span)
      if count == 0 { break }
      guard count > 0, content.count + count <= Source.most else {
        kura_clip_end(child.process)
        return nil
      }
      content += room[..<count]
    }
    return (kura_child_wait(child.process, patience), content)
  }
}
