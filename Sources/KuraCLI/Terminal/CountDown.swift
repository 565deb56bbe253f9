// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Waiting for the time when something may be tried again.
extension Questioner {
  /// The longest wait without a terminal that shows it, in ms.
  private static let patience: UInt64 = 60_000

  /// Whether a wait can be sat out: a terminal shows it and is left by Ctrl-C; another program's window
  /// shows nothing.
  func canWait(_ milliseconds: UInt64) -> Bool { hasTerminal || milliseconds <= Self.patience }

  /// Waits with a question until its answer can be tried. Without a terminal nobody waits.
  mutating func waitToAsk<Watch: PromptWatch & ~Copyable>(
    _ question: Question, _ watch: inout Watch
  ) throws(CommandError) {
    guard hasTerminal else {
      throw .throttled(question.wait, hasRecoveryKey: question.hasRecoveryKey)
    }
    let what = question.isCode ? "codes" : "passcodes"
    let key = question.hasRecoveryKey ? " A recovery key is taken at once: --recovery-key." : ""
    prompt?.say("Too many wrong " + what + "." + key)
    try countDown(question.wait, &watch)
  }

  /// Counts the time down, and drops what is typed meanwhile.
  mutating func countDown<Watch: PromptWatch & ~Copyable>(
    _ milliseconds: UInt64, _ watch: inout Watch
  ) throws(CommandError) {
    // The agent counted from an earlier moment: what is rounded up is never too early.
    let end = Clock.boot() + min(milliseconds, TimeSpan.year)
    guard hasTerminal else {
      while Clock.boot() < end {
        let left = Int32(min(end - Clock.boot(), 1_000))
        guard kura_terminal_await(watch.descriptor, left), !watch.stands() else { continue }
        throw .prompt(.answeredElsewhere)
      }
      return
    }
    try prompting { () throws(PromptError) in try prompt?.countDown(until: end, &watch) }
  }
}

extension Prompt {
  /// Says each second how long it takes yet, until the time is over. Nothing that is typed does anything
  /// but Ctrl-C, Ctrl-D and Ctrl-Z.
  ///
  /// - Parameter end: On the clock that counts sleep.
  mutating func countDown<Watch: PromptWatch & ~Copyable>(
    until end: UInt64, _ watch: inout Watch
  ) throws(PromptError) {
    try takeTerminal(other: watch.descriptor) { watch.stands() }
    let keys = try begin()
    var shown = ""
    while true {
      let now = Clock.boot()
      guard now < end else { break }
      let text = "the next try is possible in " + Diagnostic.wait(end - now) + " (Ctrl-C ends)"
      if text != shown, shown.utf8.isEmpty || !isDumb {
        if !shown.utf8.isEmpty { clearLine() }
        show(text)
        shown = text
      }
      // To the moment when another number is to be shown.
      let left = Int32((end - now - 1) % 1_000 + 1)
      switch receive(patience: left, other: watch.descriptor) {
      case 1...: if try isLeft(keys, &watch) { shown = "" }
      case Int(KURA_TERMINAL_OTHER):
        guard !watch.stands() else { continue }
        clearLine()
        throw .answeredElsewhere
      case Int(KURA_TERMINAL_CONTINUED): shown = ""
      case Int(KURA_TERMINAL_TIMEOUT): continue
      case Int(KURA_TERMINAL_CLOSED): throw .closed
      default: throw .failed
      }
    }
    clearLine()
    // What was typed meanwhile is dropped by the question.
    kura_terminal_pause()
  }

  /// Looks at all keys that were pressed; whether the command was stopped and goes on.
  private mutating func isLeft<Watch: PromptWatch & ~Copyable>(
    _ keys: LineEditor.Keys, _ watch: inout Watch
  ) throws(PromptError) -> Bool {
    defer { typed.removeAll() }
    for index in 0..<typed.count {
      let key = typed.bytes[index]
      switch key {
      case 0: continue
      case keys.interrupt, keys.quit: throw leave(.interrupted)
      case keys.endOfFile: throw leave(.cancelled)
      case keys.suspend:
        try suspend(&watch)
        return true
      default: continue
      }
    }
    return false
  }
}
