// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Shows a value on the terminal's other screen for a while, and takes it back: at a key, when the time is over,
/// and at once when the vault is locked.
struct Revealing {
  private static let limit = 65_536

  private let milliseconds: UInt64

  init(_ invocation: borrowing Invocation) throws(CommandError) {
    let arguments = invocation.arguments
    let time = try parsing { () throws(UsageError) in try arguments.duration(.show) } ?? 0
    guard time >= 1_000 else {
      throw .usage("nothing can be read in less than a second", hint: "--show 10s shows it longer")
    }
    milliseconds = time
  }

  /// Fetches a value and shows it.
  ///
  /// - Throws: When nobody looks at a terminal, it has no other screen, or the value does not fit.
  func show(_ wanted: Get.Wanted, _ access: VaultAccess) throws(CommandError) {
    try guardTerminal(access)
    var text = try fetch(wanted, access)
    var watch = try LockWatch.begin(access)
    var questioner = try access.asking.questioner()
    guard var prompt = questioner.prompt.take() else { throw .prompt(.closed) }
    guard !prompt.isDumb else {
      throw .failure(
        "this terminal has no other screen to show it on", hint: "'kura ui --linear' shows it")
    }
    guard prompt.holds(text.bytes) else {
      throw .failure(
        "the value has more lines than the terminal", hint: "'kura ui' shows it by pages")
    }
    let ending = try prompting { () throws(PromptError) in
      try prompt.showApart(text.bytes, for: milliseconds, &watch)
    }
    text.removeAll()
    switch ending {
    case .seen: return
    case .locked:
      throw .failure(
        "the vault was locked, and the value is off the terminal", hint: "run 'kura unlock'",
        .locked)
    case .unwatched: throw LockWatch.unheard
    }
  }

  private func guardTerminal(_ access: VaultAccess) throws(CommandError) {
    let questioner = try access.asking.questioner()
    switch questioner.prompt {
    case .some(let prompt): kura_terminal_guard(prompt.descriptor)
    case .none:
      throw .failure(
        "there is no terminal to show it on", hint: "without --show it goes to stdout",
        .needsInteraction)
    }
  }

  /// Says what took a value off the terminal.
  enum Ending {
    /// A key, or the time.
    case seen
    case locked
    /// Nobody could have told of a lock.
    case unwatched
  }

  /// The value as it may stand on a terminal.
  private func fetch(
    _ wanted: Get.Wanted, _ access: VaultAccess
  ) throws(CommandError) -> SecretBuffer {
    var text = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 1_024) }
    var isLong = false
    var escaping = Escaping(.text)
    try access.unlocked(authorizing: true) { connection throws(ClientError) in
      try wanted.fetch(&connection, revision: wanted.revision) { part throws(ClientError) in
        isLong = isLong || text.count + part.count > Self.limit
        guard !isLong else { return }
        do throws(SecureMemoryError) { try escaping.append(part, to: &text) } catch {
          throw .outOfMemory
        }
      }
    }
    guard !isLong else {
      throw .failure(
        "the value is too long to be shown", hint: "'kura get -o FILE NAME' writes it to a file")
    }
    do throws(SecureMemoryError) { try escaping.finish(into: &text) } catch { throw .outOfMemory }
    return text
  }
}

extension Prompt {
  /// Whether a text fits on the screen with a line below it; a character may be two columns wide.
  func holds(_ text: Span<UInt8>) -> Bool {
    let (width, height) = (columns, Int(kura_terminal_lines(descriptor)))
    guard width > 0, height > 0 else { return false }
    var (rows, column) = (1, 0)
    for index in text.indices {
      let byte = text[index]
      if byte & 0xC0 == 0x80 { continue }
      if byte == UInt8(ascii: "\n") {
        (rows, column) = (rows + 1, 0)
      } else {
        column += byte == UInt8(ascii: "\t") ? 8 : byte < 0x80 ? 1 : 2
      }
      if column > width { (rows, column) = (rows + 1, 2) }
    }
    return rows + 3 <= height
  }

  /// Shows a text apart until a key is pressed, the time is over or the vault locked.
  ///
  /// - Returns: Which of these it was.
  mutating func showApart(
    _ text: Span<UInt8>, for milliseconds: UInt64, _ watch: inout LockWatch
  ) throws(PromptError) -> Revealing.Ending {
    try takeTerminal(other: -1)
    _ = try begin()
    let end = Clock.boot() + milliseconds
    kura_terminal_show_apart(true)
    defer { kura_terminal_show_apart(false) }
    say(secret: text)
    show("\n(any key takes it away)")
    while true {
      let now = Clock.boot()
      guard now < end else { return .seen }
      let patience = Int32(clamping: min(end - now, 60_000))
      let heard = receive(patience: patience, other: watch.descriptor)
      if heard == Int(KURA_TERMINAL_OTHER) {
        return watch.isLocked() ? .locked : .unwatched
      } else if heard != Int(KURA_TERMINAL_TIMEOUT) {
        // A key, and what came back from a stop; a terminal that is gone shows nothing.
        return .seen
      }
    }
  }
}
