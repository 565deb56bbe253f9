// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs that are about an item's name and its earlier revisions.
extension Agent {
  func move(
    _ request: MoveRequest, _ connection: Connection,
    by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let result: MoveResult
    do throws(Refusal) {
      result = try work(on: session, item: request.name.place) { vault throws(VaultError) in
        try vault.move(
          request.name.bytes, to: request.new.bytes,
          replacing: request.flags.contains(.replace), by: owner)
      }
    } catch {
      // What is in the way is called by the new name.
      guard case .exists(let revision, _) = error else { throw error }
      throw .exists(revision: revision, .field(request.new.place))
    }
    if !result.isSame { noteChange(of: session) }
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(
        PutReply(revision: result.revision, replaced: result.isSame ? result.revision : 0))
    }
  }

  func history(
    _ request: NameRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    // What is not there is refused with a reply.
    _ = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.revisions(request.name.bytes)
    }
    connection.phase = .sending(RevisionList(try secret(request.name.bytes), of: session))
  }

  func restore(
    _ request: RestoreRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let revision = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.restore(
        request.name.bytes,
        revision: request.revision == 0 ? nil : request.revision,
        ifRevision: request.ifRevision == 0 ? nil : request.ifRevision)
    }
    noteUse(of: session)
    noteChange(of: session)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(RevisionReply(revision))
    }
  }

  func purge(
    _ request: PurgeRequest, _ connection: Connection,
    by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let scope: PurgeScope =
      switch request.scope {
      case .item: .item
      case .history: .history
      case .revision: .revision(request.revision)
      }
    let purge = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.purge(request.name.bytes, scope, by: owner)
    }
    noteChange(of: session)
    connection.phase = .sending(PurgeSweep(purge, of: session))
  }
}
