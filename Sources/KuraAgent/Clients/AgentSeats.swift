// SPDX-License-Identifier: MIT

internal import KuraProtocol

// MARK: - Seats

/// A client has a seat while it has something under way, and there are only so many. One that says
/// nothing has none, and what asks for a lock needs none: nobody can keep the owner from locking.
extension Agent {
  /// Gives a client a seat for a request; throws while there is none, to be asked again.
  func takeSeat(_ connection: Connection, for verb: Verb) throws(Refusal) {
    if !connection.isSeated, verb.traits.contains(.takesSeat) {
      guard hasSeat else {
        let now = configuration.clock().monotonic
        connection.busyDeadline = connection.busyDeadline ?? now + configuration.limits.queue
        connection.waitsForSeat = true
        throw .busy
      }
      connection.isSeated = true
      connection.waitsForSeat = false
      connection.busyDeadline = nil
      seated += 1
    }
    noteHeard(connection)
  }

  private var hasSeat: Bool { seated < configuration.limits.seats }

  /// Gives the seat of a client to others.
  func leaveSeat(_ connection: Connection) {
    guard connection.isSeated else { return }
    connection.isSeated = false
    seated -= 1
  }

  /// Whether it is worth while to serve a waiting request again.
  func mayTry(_ connection: Connection) -> Bool {
    guard connection.waitsForSeat, !hasSeat, let deadline = connection.busyDeadline else {
      return true
    }
    return configuration.clock().monotonic >= deadline
  }
}

// MARK: - Silence

extension Agent {
  /// Notes that a client came, or was heard with a whole request: neither a hello nor bytes that
  /// drip buy time.
  func noteHeard(_ connection: Connection) {
    heard += 1
    connection.lastHeard = heard
  }

  /// Ends the connection that was silent longest, after a look at what it has just sent; false
  /// when all have something under way.
  func dropSilent() -> Bool {
    for _ in 0..<connections.count {
      guard let connection = longestSilent else { return false }
      let before = connection.lastHeard
      serve(connection, .readable)
      if connection.isClosed { return true }
      guard connection.lastHeard == before, isDroppable(connection) else { continue }
      if connection.waitsForSeat {
        refuse(connection, .busy)
        _ = connection.outbox.send()
      }
      close(connection)
      return true
    }
    return false
  }

  /// Who waits for a seat has said something, and goes after all who have not.
  private var longestSilent: Connection? {
    var first: Connection?
    for connection in connections where isDroppable(connection) {
      guard let other = first else {
        first = connection
        continue
      }
      let isFirst =
        connection.waitsForSeat == other.waitsForSeat
        ? connection.lastHeard < other.lastHeard : other.waitsForSeat
      if isFirst { first = connection }
    }
    return first
  }

  private func isDroppable(_ connection: Connection) -> Bool {
    !connection.isSeated && !connection.phase.isParked
  }
}
