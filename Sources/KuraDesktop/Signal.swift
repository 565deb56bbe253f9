// SPDX-License-Identifier: MIT

/// Holds what was said on a bus, copied out of the message before that goes.
struct Signal: Equatable, Sendable {
  /// Holds what a signal carries, as far as any that is listened for carries something.
  enum Content: Equatable, Sendable {
    case nothing
    case flag(Bool)
    case texts([String])
    /// Of a session whose properties changed: whether its screen is locked, where that is among them.
    case lockedHint(Bool?)
    /// How far something is, and whether it is over.
    case status(String, isOver: Bool)
  }

  /// The connection that sent it, by its unique name, which the bus gives and nobody chooses.
  let sender: String
  let path: String
  let interface: String
  let member: String
  let content: Content
  /// Its number among all that the sender has sent, so that it can be told what came first.
  var serial: UInt64 = 0
}
