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
    var names = try names(request)
    let result: MoveResult
    do throws(Refusal) {
      result = try work(on: session, item: request.name.place) { vault throws(VaultError) in
        try vault.move(&names, replacing: request.flags.contains(.replace), by: owner)
      }
    } catch {
      let index = names.position
      // What is in the way is called by the new name.
      guard case .exists(let revision, _) = error else {
        throw error.about(request.files, at: index)
      }
      let place = request.newFiles.place(at: index) ?? request.new.place
      throw .exists(revision: revision, .field(place))
    }
    if !result.isSame {
      noteChange(of: session)
      follow(request.new.bytes, in: session)
      request.newFiles.forEach { follow($0.bytes, in: session) }
    }
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
    var names = try names(request.name, request.files)
    let revision: UInt64
    do throws(Refusal) {
      revision = try work(on: session, item: request.name.place) { vault throws(VaultError) in
        try vault.restore(
          &names, revision: request.revision == 0 ? nil : request.revision,
          ifRevision: request.ifRevision == 0 ? nil : request.ifRevision)
      }
    } catch { throw error.about(request.files, at: names.position) }
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

// MARK: - What goes with an item

extension Agent {
  /// An item's name, and those of what goes with it.
  func names(_ name: Field, _ files: KeyFields) throws(Refusal) -> ItemNames {
    do throws(VaultError) {
      var names = try ItemNames()
      try names.add(name.bytes)
      try files.forEach { file throws(VaultError) in try names.add(file.bytes) }
      return names
    } catch { throw .outOfMemory }
  }

  private func names(_ request: MoveRequest) throws(Refusal) -> ItemNames {
    do throws(VaultError) {
      var names = try ItemNames()
      try names.add(request.name.bytes, to: request.new.bytes)
      try request.eachFile { name, new throws(VaultError) in
        try names.add(name.bytes, to: new.bytes)
      }
      return names
    } catch { throw .outOfMemory }
  }
}

extension KeyFields {
  /// Where the name of an item's file stands in the request.
  ///
  /// - Parameter index: 0 for the item itself, which has a field of its own: nil.
  func place(at index: Int) -> Range<Int>? {
    var (next, found) = (1, Range<Int>?.none)
    forEach { file in
      if next == index { found = file.place }
      next += 1
    }
    return found
  }
}

extension Refusal {
  /// The same about the file that was not to be changed, where it was not the item itself.
  func about(_ files: KeyFields, at index: Int) -> Refusal {
    guard let place = files.place(at: index).map(Subject.field) else { return self }
    if case .notFound = self { return .notFound(place) }
    if case .notDeleted(let revision, _) = self { return .notDeleted(revision: revision, place) }
    if case .ownerNeeded = self { return .ownerNeeded(place) }
    if case .historyFull = self { return .historyFull(place) }
    if case .damaged(.field) = self { return .damaged(place) }
    return self
  }
}
