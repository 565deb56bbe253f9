// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs that change items.
extension Agent {
  func put(
    _ request: PutRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let edits = try self.edits(request, session)
    if request.isStream {
      if request.flags.contains(.otp) { throw .otpInvalid(.tooLong) }
      return try beginUpload(request, edits, session, connection)
    }
    let value = request.value.bytes
    guard !value.isEmpty || request.flags.contains(.allowEmpty) else { throw .valueEmpty }
    let result = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.put(
        request.name.bytes, value: value, attributes: edits,
        condition: request.condition, protecting: request.flags.contains(.protect),
        kind: request.flags.contains(.otp) ? .otp : .value, times: request.given)
    }
    try answer(result, session, connection)
  }

  func changeAttributes(
    _ request: AttributesRequest, _ connection: Connection
  ) throws(Refusal) {
    try checkDeleted(request, connection)
    try change(request.name, connection) { vault, name throws(VaultError) in
      var edits = AttributeEdits()
      try request.set.forEach { key, value throws(VaultError) in try edits.set(key, to: value) }
      try request.delete.forEach { key throws(VaultError) in try edits.delete(key.bytes) }
      return try vault.setAttributes(
        name, edits, ifRevision: request.ifRevision == 0 ? nil : request.ifRevision)
    }
  }

  /// Changes an item, but not its value, and answers with the revision that it has then.
  func change(
    _ name: Field, _ connection: Connection,
    _ body: (inout UnlockedVault, Span<UInt8>) throws(VaultError) -> UInt64
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let revision = try work(on: session, item: name.place) { vault throws(VaultError) in
      try body(&vault, name.bytes)
    }
    noteChange(of: session)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(RevisionReply(revision))
    }
  }

  /// Refuses to delete an attribute that is not there: what was meant is another one, and a revision is
  /// not used up for nothing.
  private func checkDeleted(
    _ request: AttributesRequest, _ connection: Connection
  ) throws(Refusal) {
    guard request.delete.count > 0 else { return }
    let item = try item(request.name, connection)
    try request.delete.forEach { field throws(Refusal) in
      let key = try attributeKey(field.bytes)
      guard item.attributes.value(of: key.bytes) == nil, !item.hasSecret(key.bytes) else { return }
      throw .attributeNotFound(.field(field.place))
    }
  }

  func remove(
    _ request: RemoveRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    var names = try names(request.name, request.files)
    do throws(Refusal) {
      try work(on: session, item: request.name.place) { vault throws(VaultError) in
        try vault.remove(&names, ifRevision: request.ifRevision == 0 ? nil : request.ifRevision)
      }
    } catch { throw error.about(request.files, at: names.position) }
    noteChange(of: session)
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
  }

  private func edits(
    _ request: PutRequest, _ session: Session
  ) throws(Refusal) -> AttributeEdits {
    do throws(VaultError) {
      var edits = AttributeEdits(replacingAll: request.flags.contains(.replaceAttributes))
      try request.attributes.forEach { key, value throws(VaultError) in
        try edits.set(key, to: value)
      }
      try request.secrets.forEach { key, value throws(VaultError) in
        try edits.set(secret: key, to: value)
      }
      return edits
    } catch { throw Refusal(error, at: session.path) }
  }

  /// Says which revision a stored value has.
  func answer(
    _ result: PutResult, _ session: Session, _ connection: Connection
  ) throws(Refusal) {
    noteUse(of: session)
    noteChange(of: session)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(
        PutReply(revision: result.revision, replaced: result.previous))
    }
  }
}

// MARK: - Uploads

/// Takes a value in, chunk by chunk.
final class ValueUpload {
  let session: Session
  var upload: Upload
  let allowsEmpty: Bool
  /// The item's name, for the access log.
  let name: SecretBytes
  var isEmpty = true

  init(
    _ upload: consuming Upload, of name: consuming SecretBytes, to session: Session,
    allowsEmpty: Bool
  ) {
    self.upload = upload
    self.name = name
    self.session = session
    self.allowsEmpty = allowsEmpty
  }
}

extension Agent {
  private func beginUpload(
    _ request: PutRequest, _ edits: consuming AttributeEdits,
    _ session: Session, _ connection: Connection
  ) throws(Refusal) {
    var edits: AttributeEdits? = consume edits
    let upload = try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.beginUpload(
        request.name.bytes, attributes: edits.take() ?? AttributeEdits(),
        condition: request.condition, protecting: request.flags.contains(.protect),
        times: request.given)
    }
    connection.phase = .uploading(
      ValueUpload(
        upload, of: try secret(request.name.bytes), to: session,
        allowsEmpty: request.flags.contains(.allowEmpty)))
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply() }
  }

  /// Takes a chunk of a value.
  func append(
    _ payload: Span<UInt8>, to upload: ValueUpload, _ connection: Connection
  ) throws(Refusal) {
    let session = upload.session
    try work(on: session) { vault throws(VaultError) in
      try vault.append(payload, to: &upload.upload)
    }
    if !payload.isEmpty { upload.isEmpty = false }
    noteUse(of: session)
  }

  /// Makes what was uploaded an item's value, or throws it away.
  func end(
    _ upload: ValueUpload, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Refusal) {
    let end = try wire { () throws(ProtocolError) in try UploadEnd(payload) }
    let session = upload.session
    guard end == .commit, !upload.isEmpty || upload.allowsEmpty else {
      // What was staged is swept with the next upkeep.
      noteChange(of: session)
      throw end == .commit ? .valueEmpty : .cancelled(lasting: 0)
    }
    let result = try work(on: session) { vault throws(VaultError) in
      try vault.commit(&upload.upload)
    }
    noteStored(upload.name, in: session, by: connection)
    connection.phase = .ready
    try answer(result, session, connection)
  }
}

extension PutRequest {
  /// When the item was made and changed, where the request says so.
  var given: ItemTimes? { flags.contains(.dated) ? times : nil }

  /// What must be so for the value to be stored.
  var condition: PutCondition {
    if flags.contains(.ifRevision) { return revision == 0 ? .create : .revision(revision) }
    return flags.contains(.replace) ? .replace : .create
  }
}
