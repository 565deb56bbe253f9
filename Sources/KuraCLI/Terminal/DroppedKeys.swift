// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import SecureMemory

/// Keys that were meant for a question that is gone.
extension Prompt {
  /// Drops what is typed until nobody has typed for half a second.
  ///
  /// - Returns: Ctrl-C where that was typed, or else Ctrl-D.
  @discardableResult
  mutating func dropTyped() -> LineEditor.Event {
    var event = LineEditor.Event.none
    while kura_terminal_await(descriptor, 500), receive(patience: 0, other: -1) > 0 {
      for index in 0..<typed.count {
        let key = typed.bytes[index]
        if key == keys?.interrupt { event = .interrupt }
        if key == keys?.endOfFile, event == .none { event = .cancel }
      }
      typed.removeAll()
    }
    typed.removeAll()
    return event
  }
}
