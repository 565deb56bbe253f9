// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import SecureMemory

/// Reads keys, signals and the agent's word, whichever comes first.
struct Keyboard: ~Copyable {
  /// Says what came.
  struct News: OptionSet {
    let rawValue: Int32
    static let keys = News(rawValue: Int32(KURA_SCREEN_KEYS))
    static let signal = News(rawValue: Int32(KURA_SCREEN_SIGNAL))
    static let agent = News(rawValue: Int32(KURA_SCREEN_NEWS))
  }

  private let terminal: Int32
  private let signals: Int32
  private var typed: SecretBuffer
  private var reader = KeyReader()
  /// Whether the window is gone.
  private(set) var isClosed = false

  init(terminal: Int32, signals: Int32) throws(SecureMemoryError) {
    self.terminal = terminal
    self.signals = signals
    typed = try SecretBuffer(capacity: 256)
  }

  /// Waits for something; nothing: the time is over.
  func wait(agent: Int32, milliseconds: Int32) -> News {
    // An Escape by itself is known by nothing coming behind it.
    let patience = reader.isWaiting ? 50 : milliseconds
    return News(rawValue: max(kura_screen_wait(terminal, signals, agent, patience), 0))
  }

  /// The next signal's number, or 0.
  func signal() -> Int32 { kura_screen_next_signal(signals) }

  /// Reads what was typed.
  mutating func fill() {
    let descriptor = terminal
    let room = typed.capacity
    typed.removeAll()
    let count = typed.append(upTo: room) { tail in
      max(ScreenCalls.read(descriptor, into: &tail), 0)
    }
    isClosed = count == 0
  }

  /// The next key of what was read; nil: all were.
  mutating func next() -> Key? {
    while typed.count > 0 {
      let byte = typed.bytes[0]
      typed.removeFirst(1)
      if let key = reader.take(byte) { return key }
    }
    return nil
  }

  /// Ends an Escape that nothing came behind.
  mutating func expire() -> Key? { reader.finish() }

  /// Drops what was typed and not yet looked at.
  mutating func drop() {
    typed.removeAll()
    _ = reader.finish()
  }
}
