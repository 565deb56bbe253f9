// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs that are about an item's name and its earlier revisions.
extension Agent {
  func move(
    _ request: MoveRequest, _ payload: Span<UInt8>, _ connection: Connection,
    by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let result: MoveResult
    do throws(Refusal) {
      result = try work(on: session, item: request.name) { vault throws(VaultError) in
        try vault.move(
          payload.extracting(request.name), to: payload.extracting(request.new),
          replacing: request.flags.contains(.replace), by: owner)
      }
    } catch {
      // What is in the way is called by the new name.
      guard case .exists(let revision, _) = error else { throw error }
      throw .exists(revision: revision, .field(request.new))
    }
    if !result.isSame { noteChange(of: session) }
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putPutReply(
        revision: result.revision, replaced: result.isSame ? result.revision : 0)
    }
  }

  func history(
    _ name: Range<Int>, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    // What is not there is refused with a reply.
    _ = try work(on: session, item: name) { vault throws(VaultError) in
      try vault.revisions(payload.extracting(name))
    }
    let copy: SecretBytes
    do throws(SecureMemoryError) {
      copy = try SecretBytes(copying: payload.extracting(name))
    } catch { throw .outOfMemory }
    connection.phase = .sending(RevisionList(copy, of: session))
  }

  func restore(
    _ request: RestoreRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let revision = try work(on: session, item: request.name) { vault throws(VaultError) in
      try vault.restore(
        payload.extracting(request.name),
        revision: request.revision == 0 ? nil : request.revision,
        ifRevision: request.ifRevision == 0 ? nil : request.ifRevision)
    }
    noteUse(of: session)
    noteChange(of: session)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putRevisionReply(revision)
    }
  }

  func purge(
    _ request: PurgeRequest, _ payload: Span<UInt8>, _ connection: Connection,
    by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let scope: PurgeScope =
      switch request.scope {
      case .item: .item
      case .history: .history
      case .revision: .revision(request.revision)
      }
    let purge = try work(on: session, item: request.name) { vault throws(VaultError) in
      try vault.purge(payload.extracting(request.name), scope, by: owner)
    }
    noteChange(of: session)
    connection.phase = .sending(PurgeSweep(purge, of: session))
  }
}
