// SPDX-License-Identifier: MIT

/// Says how long the agent may keep a client waiting, in ms.
struct Patience: Sendable {
  /// For a place in the agent's queue.
  var connecting: Int32 = 5_000
  /// For an answer; the agent itself gives up on a busy vault after 5 s.
  var answer: Int32 = 10_000
  /// For an answer that derives keys, one after another, on a slow machine.
  var derivation: Int32 = 300_000
  /// Between the frames of long work, and for room to send more.
  var stream: Int32 = 60_000
  /// For an agent to come up, and for an engine of our own to write back and end.
  var process: Int32 = 15_000

  static let standard = Patience()

  /// Has no answer waited for longer.
  mutating func limit(to milliseconds: Int32) {
    answer = min(answer, milliseconds)
    derivation = min(derivation, milliseconds)
    stream = min(stream, milliseconds)
  }
}
