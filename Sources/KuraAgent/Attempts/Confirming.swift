// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Agent {
  /// Waits for a client's word, as long as keys may be held for it.
  func awaitWord(_ attempt: Attempt, of client: Connection) {
    client.errand = attempt
    client.phase = .confirming
    client.keyHold = KeyHold(for: configuration.limits.confirm, at: configuration.clock())
    asked.append(client)
  }

  /// The client has the recovery key: what it opens may be there.
  func confirm(_ connection: Connection) throws(Denial) {
    guard let attempt = connection.errand as? Attempt else { throw .malformed }
    try attempt.perform(in: self, for: connection)
    noteDone(connection)
    connection.errand = nil
    // What goes on in slices answers by itself.
    connection.phase = connection.stream == nil ? .ready : .parked
    forgetWord(of: connection)
  }

  /// Notes that no keys are held for a client's word any more.
  func forgetWord(of connection: Connection) {
    guard connection.keyHold != nil else { return }
    connection.keyHold = nil
    asked.removeAll { $0 === connection }
  }

  /// Wipes what was held for clients that did not say their word in time.
  func expireWords(at now: Moment) {
    for connection in asked where connection.keyHold?.isOver(at: now) ?? true {
      giveUpWord(connection)
    }
  }

  /// Wipes what is held for the words of clients, whatever it opens.
  func giveUpWords() {
    for connection in asked { giveUpWord(connection) }
  }

  private func giveUpWord(_ connection: Connection) {
    forgetWord(of: connection)
    // With it go the keys.
    connection.errand = nil
    connection.busyDeadline = nil
    connection.phase = .ready
    refuse(connection, .unconfirmed)
    flush(connection)
    resumed.append(connection)
  }
}
