// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs for a vault that machines share through a store.
extension Agent {
  /// Begins a conversation with who carries.
  func sync(_ request: SyncRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard !connections.contains(where: { $0.meeting?.session === session }) else { throw .busy }
    let other = try work(on: session) { vault throws(VaultError) in try vault.otherFile() }
    if let other { throw .vaultExists(.text(String(decoding: other, as: UTF8.self))) }
    let begun = try work(on: session) { vault throws(VaultError) in
      try configuration.beginSync(&vault, request.compacts)
    }
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
    let reply = try work(on: session) { vault throws(VaultError) in
      let state = try vault.sharingState()
      var reply = SyncStatusReply(state, awaiting: try vault.awaitedDevices())
      if state != nil { reply.fingerprint = try vault.knownFingerprint() }
      return reply
    }
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply(reply) }
  }

  /// Makes the vault one that is shared; of one that is this machine gets another name.
  func startSync(_ request: SyncStartRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let isSparing = request.flags.contains(.sparing)
    try checkStart(request.flags, session)
    do throws(VaultError) { _ = try SlotNaming(label: request.label.bytes) } catch {
      throw Refusal(error, at: connection.vaultPath)
    }
    let label = request.label.bytes.indices.map { request.label.bytes[$0] }
    let copy = try work(on: session) { vault throws(VaultError) in
      let copy = try vault.takeOver()
      if try vault.isShared() {
        try vault.relabel(label)
      } else {
        try vault.share(label: label, sparing: isSparing)
      }
      return copy
    }
    noteChange(of: session)
    let path = Array((copy ?? "").utf8)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putReply(TakeOverReply(copy: path.span))
    }
  }

  /// Refuses, before anything is changed, to share a vault by slots that its owner would not have in the store; how one
  /// that is shared already is stays as it is.
  private func checkStart(
    _ flags: SyncStartRequest.Flags, _ session: Session
  ) throws(Refusal) {
    let state = try work(on: session) { vault throws(VaultError) in try vault.sharingState() }
    let slots = session.front?.1 ?? []
    guard !(state?.isSparing ?? flags.contains(.sparing)) else {
      guard state != nil || slots.contains(where: { $0.kind == .recoveryKey }) else {
        throw .recoveryKeyNeeded
      }
      return
    }
    guard !flags.contains(.sparing) else { throw .passcodesInStore }
    // What a passcode makes of a guess stands in the store.
    let isWeak = slots.contains { $0.kind == .passcode && $0.kdf.map(KDFLimits.isWeak) == true }
    guard !isWeak || flags.contains(.weak) else { throw .kdfTooWeak(floor: KDFLimits.floor) }
  }
}
