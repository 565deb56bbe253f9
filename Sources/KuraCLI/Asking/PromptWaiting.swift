// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import SecureMemory

/// Waiting for a prompt that stands elsewhere.
extension Prompt {
  /// Says what ended a wait.
  enum WaitEnd {
    /// There are news.
    case news
    /// Enter was pressed: the person wants to be asked here.
    case wanted
  }

  /// Says on the terminal what is waited for, until there are news or Enter is pressed. Nothing else
  /// that is typed does anything: it may be the passcode, by mistake, and is not shown.
  mutating func wait(_ text: String, other: Int32) throws(PromptError) -> WaitEnd {
    do throws(PromptError) { try takeTerminal(other: other) } catch {
      guard error == .answeredElsewhere else { throw error }
      return .news
    }
    let keys = try begin()
    show(text)
    while true {
      switch receive(patience: -1, other: other) {
      case 1...:
        guard try isWanted(text, keys) else { continue }
        clearLine()
        // What follows it is dropped when this is asked.
        kura_terminal_pause()
        return .wanted
      case Int(KURA_TERMINAL_OTHER):
        clearLine()
        return .news
      case Int(KURA_TERMINAL_CONTINUED):
        clearLine()
        show(text)
      case Int(KURA_TERMINAL_CLOSED): throw .closed
      case Int(KURA_TERMINAL_TIMEOUT): continue
      default: throw .failed
      }
    }
  }

  /// Looks at all keys that were pressed; whether Enter was among them.
  private mutating func isWanted(
    _ text: String, _ keys: LineEditor.Keys
  ) throws(PromptError) -> Bool {
    defer { typed.removeAll() }
    for index in 0..<typed.count {
      let key = typed.bytes[index]
      switch key {
      case 0: continue
      case 0x0A, 0x0D: return true
      case keys.interrupt, keys.quit: throw leave(.interrupted)
      case keys.endOfFile: throw leave(.cancelled)
      case keys.suspend:
        stop()
        clearLine()
        show(text)
        return false
      default: continue
      }
    }
    return false
  }
}
