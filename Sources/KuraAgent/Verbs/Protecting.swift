// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs that change how a value is kept.
extension Agent {
  func protect(_ request: NameRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let revision = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.protect(request.name.bytes)
    }
    try answer(revision, session, connection)
  }

  func unprotect(
    _ request: OwnedNameRequest, _ connection: Connection,
    by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let revision = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.unprotect(request.name.bytes, by: owner)
    }
    try answer(revision, session, connection)
  }

  private func answer(
    _ revision: UInt64, _ session: Session, _ connection: Connection
  ) throws(Refusal) {
    noteChange(of: session)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(RevisionReply(revision))
    }
  }
}
