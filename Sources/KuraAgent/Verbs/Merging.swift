// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs for copies of a vault that went separate ways.
extension Agent {
  /// How many rows a part of the conflicts is looked for in.
  private static let rowsAtOnce = 2_000

  func merge(_ request: MergeRequest, _ connection: Connection) throws(Refusal) {
    let bytes = request.path.bytes
    guard bytes.count > 0, bytes[0] == UInt8(ascii: "/"),
      let text = try? UTF8Span(validating: bytes)
    else { throw .pathInvalid }
    let path = String(copying: text)
    let session = try unlocked(connection)
    let isTrial = request.isTrial
    // A file that is no copy takes no vault over.
    try work(on: session, at: path) { vault throws(VaultError) in
      _ = try vault.openCopy(at: path)
    }
    let copy = try work(on: session) { vault throws(VaultError) in
      isTrial ? nil : try vault.takeOver()
    }
    let report = try merged(path, isTrial: isTrial, session)
    noteUse(of: session)
    noteChange(of: session)
    let place = Array((copy ?? "").utf8)
    try wire { () throws(ProtocolError) in
      var reply = MergeReply(copy: place.span)
      reply.added = report.added
      reply.changed = report.changed
      reply.purged = report.purged
      reply.conflicting = report.conflicting
      reply.renamed = report.renamed
      reply.settings = report.settings
      reply.slots = report.slots
      try connection.outbox.frames.putReply(reply)
    }
  }

  private func merged(
    _ path: String, isTrial: Bool, _ session: Session
  ) throws(Refusal) -> MergeReport {
    do throws(Refusal) {
      return try work(on: session) { vault throws(VaultError) in
        try vault.merge(vault.openCopy(at: path), isTrial: isTrial)
      }
    } catch {
      // What is wrong with the copy is said of the copy.
      if case .copyUnsound = error { throw .copyUnsound(.text(path)) }
      if case .mergeRefused(let flaw, _) = error { throw .mergeRefused(flaw, .text(path)) }
      throw error
    }
  }

  func conflicts(_ request: ConflictsRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let from = request.from.bytes
    guard from.isEmpty || from.count == ItemTag.byteCount else { throw .malformed }
    let start = from.isEmpty ? nil : ItemTag(from)
    var list = try room()
    var count = 0
    let next = try work(on: session) { vault throws(VaultError) in
      try vault.eachConflict(
        from: start, limit: Agent.rowsAtOnce, until: { count > ProtocolLimit.conflicts / 2 }
      ) { conflict throws(VaultError) in
        guard count < ProtocolLimit.conflicts else { return }
        count += 1
        do throws(ProtocolError) {
          try list.put(conflict.part.rawValue)
          try list.put(conflict.revision)
          try list.put16(conflict.name.bytes)
          try list.put16(conflict.text.bytes)
        } catch { throw .outOfMemory }
      }
    }
    noteUse(of: session)
    let end = next?.bytes ?? []
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(
        ConflictsReply(list.bytes, count: count, next: end.span))
    }
  }

  private func room() throws(Refusal) -> SecretBuffer {
    do throws(SecureMemoryError) { return try SecretBuffer(capacity: 256) } catch {
      throw .outOfMemory
    }
  }
}
