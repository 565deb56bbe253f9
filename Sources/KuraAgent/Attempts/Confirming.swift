// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Agent {
  /// Waits for a client's word, as long as keys may be held for it.
  func awaitWord(_ attempt: Attempt, of client: Connection) {
    let hold = KeyHold(for: configuration.limits.confirm, at: configuration.clock())
    client.phase = .confirming(attempt, hold)
    mayHoldKeys = true
  }

  /// The client has the recovery key: what it opens may be there.
  func confirm(_ attempt: Attempt, of connection: Connection) throws(Refusal) {
    try attempt.perform(in: self, for: connection)
    noteDone(connection)
    // What goes on in slices answers by itself.
    if case .confirming = connection.phase { connection.phase = .ready }
  }

  /// Wipes what was held for clients that did not say their word in time.
  func expireWords(at now: Moment) {
    guard mayHoldKeys else { return }
    for connection in connections {
      if connection.phase.keyHold?.isOver(at: now) == true { giveUpWord(connection) }
    }
    mayHoldKeys = nextWordDeadline != nil
  }

  /// When keys that are held are wiped next, in milliseconds since boot.
  var nextWordDeadline: UInt64? { connections.compactMap { $0.phase.keyHold?.deadline }.min() }

  /// Wipes what is held for the words of clients, whatever it opens.
  func giveUpWords() {
    for connection in connections where connection.phase.keyHold != nil {
      giveUpWord(connection)
    }
  }

  private func giveUpWord(_ connection: Connection) {
    // With it go the keys.
    connection.phase = .ready
    connection.busyDeadline = nil
    refuse(connection, .unconfirmed)
    flush(connection)
    resumed.append(connection)
  }
}
