// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Clears a display's clipboard when the time is over or the vault is locked, if the value is still
/// there: a process that outlives the command and the terminal. It keeps a mark of the value, not
/// the value. A display has one; the next copy ends it.
struct Clearer {
  let tool: ClipboardTool
  /// A mark of nothing yet.
  let mark: ValueMark
  /// That of the value.
  let tag: ValueMark.Tag
  /// When the time is over, on the clock since boot.
  let deadline: UInt64
  let access: VaultAccess

  /// How long the clearing process may take to begin, in ms.
  private static let patience: Int32 = 10_000

  /// Starts the process, which does not come back from here; false where that is not possible.
  func start(_ messages: Messages) throws(CommandError) -> Bool {
    let (process, ready) = System.detach()
    guard process >= 0 else { return false }
    if process == 0 {
      clear(ready, messages)
      kura_clip_leave()
    }
    var word: [1 of UInt8] = [0]
    var room = word.mutableSpan
    let count = System.readPipe(ready, into: &room, patience: Self.patience)
    kura_file_close(ready)
    return count == 1
  }

  /// Ends the one of an earlier copy: what it would clear is not there any more.
  static func endOther(of tool: ClipboardTool) {
    let taken = take(tool)
    if taken >= 0 { kura_file_close(taken) }
  }

  /// Takes the display for this process. Where that fails, another one looks at the value, too, before
  /// it clears anything.
  private static func take(_ tool: ClipboardTool) -> Int32 {
    guard let directory = try? UserDirectory.runtime() else { return -1 }
    let letters = tool.display.utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
    let name = String(decoding: letters.suffix(100), as: UTF8.self)
    return System.takeClipboard(
      directory + "/clipboard-" + tool.kind.display.name + name, in: directory)
  }
}

// MARK: - In the process

extension Clearer {
  private func clear(_ ready: Int32, _ messages: Messages) {
    _ = Self.take(tool)
    if !waitForLock(ready) {
      kura_clip_ready(ready)
      waitForNews(-1)
    }
    switch tool.read(mark) {
    case .text(tag):
      if !tool.clear() { messages.warn("the clipboard could not be cleared: clear it by hand") }
    case .text, .nothing: return
    case .failed:
      messages.warn("the clipboard could not be read, and was not cleared: clear it by hand")
    }
  }

  /// Waits for the lock, the agent's end or the time; false where nobody tells of locks: a private
  /// engine, or an agent that knows of no such thing.
  private func waitForLock(_ ready: Int32) -> Bool {
    guard !access.isPrivate else { return false }
    do throws(CommandError) {
      guard var connection = try access.connectRunning() else { return false }
      try running { () throws(ClientError) in try connection.beginWatch() }
      kura_clip_ready(ready)
      waitForNews(connection.watched)
      return true
    } catch {
      guard case .client(.refused(let refused)) = error, refused.failure == .locked else {
        return false
      }
      kura_clip_ready(ready)
      return true
    }
  }

  /// Whether a descriptor has something to read before the time is over.
  @discardableResult
  private func waitForNews(_ descriptor: Int32) -> Bool {
    while true {
      let now = Clock.boot()
      guard now < deadline else { return false }
      // The clock of poll(2) stands while the machine sleeps.
      let left = Int32(min(deadline - now, 5_000))
      if kura_terminal_await(descriptor, left) { return true }
    }
  }
}
