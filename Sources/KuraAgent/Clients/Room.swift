// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import SecureMemory

/// Says what a room is served over a connection, whatever comes over it: nothing takes it back.
final class Room {
  /// In normal form, a NUL behind each.
  private var names: SecretBuffer

  init(_ names: KeyFields) throws(Refusal) {
    do throws(SecureMemoryError) { self.names = try SecretBuffer(capacity: 64) } catch {
      throw .outOfMemory
    }
    try names.forEach { name throws(Refusal) in
      let normal = try Room.normal(name.bytes)
      do throws(SecureMemoryError) {
        try self.names.append(normal.bytes)
        try self.names.append(0)
      } catch { throw .outOfMemory }
    }
  }

  /// Whether a request is one of those that a room may ask, about one of its items.
  func serves(_ request: borrowing Request) throws(Refusal) -> Bool {
    switch copy request {
    case .get(let request):
      // What was stored before is not what its owner lets a room have.
      guard request.revision == 0 else { return false }
      return try has(request.name.bytes)
    case .getAttribute(let request): return try has(request.name.bytes)
    case .show(let request), .otp(let request), .secrets(let request):
      return try has(request.name.bytes)
    case .status, .create, .unlock, .lock, .put, .list, .attributes, .remove, .passcode, .verify,
      .config, .agentStatus, .agentStop, .wait, .slots, .slotAdd, .slotRemove, .slotTest,
      .slotDisable, .slotEnable, .authorize, .protect, .unprotect, .prompt, .rotate, .agentFacts,
      .rekey, .move, .history, .restore, .purge, .touch, .watch, .log, .putBatch, .draftKey,
      .compact, .backup, .setSecret, .merge, .conflicts, .getSecrets, .takeOver, .mask, .clone,
      .grant, .grants, .grantRevoke, .wish, .wishes, .approve, .decline, .confine, .sync,
      .syncGiven, .syncStatus, .syncStart, .syncJoin, .syncEnter, .chip, .securityKey,
      .finger:
      return false
    }
  }

  private func has(_ name: Span<UInt8>) throws(Refusal) -> Bool {
    let wanted = try Room.normal(name)
    var start = 0
    for end in names.bytes.indices where names.bytes[end] == 0 {
      if wanted.isEqual(to: names.bytes.extracting(start..<end)) { return true }
      start = end + 1
    }
    return false
  }

  private static func normal(_ name: Span<UInt8>) throws(Refusal) -> SecretBytes {
    do throws(FormatError) { return try ItemName.normalize(name) } catch {
      guard case .nameInvalid(let rule) = error else { throw .outOfMemory }
      throw .nameInvalid(rule)
    }
  }
}

extension Agent {
  /// Has a connection serve no more than a room may have from now on. A hello of the room's own comes next.
  func confine(_ request: ConfineRequest, _ connection: Connection) throws(Refusal) {
    connection.room = try Room(request.names)
    connection.grant = nil
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply()
    }
    connection.phase = .greeting
  }

  /// Refuses what a client may not have for where it is: in a room behind a relay, or in namespaces that are not the
  /// agent's. Whose process has ended meanwhile may still lock.
  func checkPlace(
    of connection: Connection, for request: borrowing Request
  ) throws(Refusal) {
    if let room = connection.room {
      guard try room.serves(request) else { throw .confined(.notServed) }
      return
    }
    guard connection.depth != depth else { return }
    guard connection.depth == nil, request.verb == .lock else { throw .confined(.otherNamespace) }
  }

  /// Notes in how many namespaces of process ids the process of a client that came is, unless that is not seen, or has
  /// ended.
  func look(at connection: Connection) {
    guard connection.process > 0 else { return }
    let depth = configuration.depths(UInt32(clamping: connection.process))
    // Until it ends, its number is no other's.
    let life = lives(connection)
    connection.mayShow = life == nil
    if life != false { connection.depth = depth }
  }
}
