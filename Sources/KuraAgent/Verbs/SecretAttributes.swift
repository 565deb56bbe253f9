// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs for attributes that are as secret as the value.
extension Agent {
  func setSecret(
    _ request: SetSecretRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    // A wrong name or key takes no vault over.
    _ = try item(request.name, connection)
    _ = try attributeKey(request.key.bytes)
    let copy = try work(on: session) { vault throws(VaultError) in try vault.takeOver() }
    let revision = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      var edits = AttributeEdits()
      try edits.set(secret: request.key.bytes, to: request.value.bytes)
      return try vault.setAttributes(
        request.name.bytes, edits,
        ifRevision: request.ifRevision == 0 ? nil : request.ifRevision)
    }
    noteUse(of: session)
    noteChange(of: session)
    let path = Array((copy ?? "").utf8)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(SetSecretReply(revision, copy: path.span))
    }
  }

  func secrets(_ request: NameRequest, _ connection: Connection) throws(Refusal) {
    let item = try item(request.name, connection)
    try wire { () throws(ProtocolError) in
      var list = try listed()
      var count = 0
      var cursor = item.view.secretKeys
      while cursor.advance() {
        try list.put16(cursor.key)
        try list.put(UInt32(cursor.size))
        count += 1
      }
      try connection.outbox.frames.putReply(SecretsReply(list.bytes, count: count))
    }
  }

  /// Reads all of them, of a protected item as the value is read.
  func getSecrets(
    _ request: GetSecretsRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let masks = try masks(above: connection)
    let name = request.name.bytes
    let revision = request.revision == 0 ? nil : request.revision
    let list = try opening(connection, on: session) { grant throws(Refusal) in
      try work(on: session, item: request.name.place) { vault throws(VaultError) in
        guard let grant else {
          return try vault.secretAttributes(of: name, revision: revision, with: nil)
        }
        return try vault.secretAttributes(of: name, revision: revision, with: grant.key)
      }
    }
    remember(name, revision: revision, on: session, for: connection)
    noteUse(of: session)
    let bytes = list.bytes
    let count = Int(bytes[0]) | Int(bytes[1]) << 8
    let fields = AttributeFields(bytes.extracting(droppingFirst: 2), count: count)
    try fields.forEach { key, value throws(Refusal) in
      try tell(masks, connection, of: .attribute, name: name, key: key, value, on: session)
    }
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(GetSecretsReply(fields))
    }
  }

  /// Takes a vault over for attributes that are to come in a batch.
  func takeOver(_ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let copy = try work(on: session) { vault throws(VaultError) in try vault.takeOver() }
    if copy != nil {
      noteUse(of: session)
      noteChange(of: session)
    }
    let path = Array((copy ?? "").utf8)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(TakeOverReply(copy: path.span))
    }
  }

  private func listed() throws(ProtocolError) -> SecretBuffer {
    do throws(SecureMemoryError) { return try SecretBuffer(capacity: 64) } catch {
      throw .outOfMemory
    }
  }

  /// Reads an attribute that stands beside the value; of a protected item as the value is read.
  func getSecret(
    _ request: GetAttributeRequest, key: borrowing SecretBytes, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let masks = try masks(above: connection)
    let name = request.name.bytes
    let bytes = key.bytes
    let value = try opening(connection, on: session) { grant throws(Refusal) in
      try work(on: session, item: request.name.place) { vault throws(VaultError) in
        guard let grant else { return try vault.secretAttribute(bytes, of: name, with: nil) }
        return try vault.secretAttribute(bytes, of: name, with: grant.key)
      }
    }
    remember(name, revision: nil, on: session, for: connection)
    noteUse(of: session)
    try tell(
      masks, connection, of: .attribute, name: name, key: bytes, value.bytes, on: session)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(AttributeReply(value.bytes))
    }
  }
}
