// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs for a vault that machines share through a store.
extension Agent {
  /// Begins a conversation with who carries.
  func sync(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard !connections.contains(where: { $0.meeting?.session === session }) else { throw .busy }
    let begun = try work(on: session) { vault throws(VaultError) in
      try configuration.beginSync(&vault)
    }
    guard let begun else { throw Self.unshared }
    let meeting = StoreMeeting(begun, of: session)
    connection.meeting = meeting
    connection.phase = .sending(StoreExchange(meeting, nil, configuration))
  }

  /// Goes on with one.
  func syncGiven(_ request: SyncGivenRequest, _ connection: Connection) throws(Refusal) {
    // A lock may have ended it.
    let session = try unlocked(connection)
    guard let meeting = connection.meeting, meeting.session === session else { throw .malformed }
    switch try meeting.take(request) {
    case .whole(let answer):
      connection.phase = .sending(StoreExchange(meeting, answer, configuration))
    case .part(let count):
      try wire { () throws(ProtocolError) in
        try connection.outbox.frames.putProgress(done: count, total: 0)
        try connection.outbox.frames.putEnd()
      }
    case .failed:
      connection.meeting = nil
      try wire { () throws(ProtocolError) in try connection.outbox.frames.putEnd(of: meeting) }
    }
  }

  func syncStatus(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let status = try work(on: session) { vault throws(VaultError) in
      try configuration.readSync(&vault)
    }
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply(status) }
  }

  func startSync(_ request: SyncStartRequest, _ connection: Connection) throws(Refusal) {
    _ = try unlocked(connection)
    throw Self.unshared
  }

  func joinSync(_ request: SyncJoinRequest, _ connection: Connection) throws(Refusal) {
    throw Self.unshared
  }

  private static var unshared: Refusal { .unsupported(.text("a vault that machines share")) }
}
