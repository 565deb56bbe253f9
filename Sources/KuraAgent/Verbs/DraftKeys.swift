// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// The verb for what a client holds beyond a lock. It is no use of the vault.
extension Agent {
  /// Makes a key, or opens one that this vault has sealed; nothing of either is kept.
  func draftKey(
    _ request: DraftKeyRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let sealed = request.sealed.bytes
    guard !sealed.isEmpty else {
      let made = try work(on: session) { vault throws(VaultError) in try vault.makeDraftKey() }
      return try wire { () throws(ProtocolError) in
        try connection.outbox.frames.putReply(
          DraftKeyReply(key: made.key.bytes, sealed: made.sealed.span))
      }
    }
    let key = try work(on: session) { vault throws(VaultError) in
      try vault.openDraftKey(sealed)
    }
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(DraftKeyReply(key: key.bytes, sealed: sealed))
    }
  }
}
