// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Serves `sync` and `sync-given`: goes on with a vault a slice until that wants something of the store, or nothing
/// more. It is nobody's use of the vault.
final class StoreExchange: Stream {
  let session: Session
  let isUse = false
  let isChange = true
  private let meeting: StoreMeeting
  private var answer: SyncAnswer?
  /// What the client is to write, and how much of it was sent.
  private var outgoing: [UInt8] = []
  private var sent = 0
  /// How often the vault went on by itself.
  private var steps: UInt64 = 0
  private var isOver = false
  /// The limits and the clock of the agent.
  private let configuration: AgentConfiguration
  /// When it is tried again to get hold of a busy vault, and until when.
  private var retry: UInt64 = 0
  private var busyDeadline: UInt64?

  init(_ meeting: StoreMeeting, _ answer: SyncAnswer?, _ configuration: AgentConfiguration) {
    self.meeting = meeting
    self.answer = answer
    self.configuration = configuration
    session = meeting.session
  }

  var due: UInt64 { retry }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    guard outgoing.isEmpty else { return try send(&outbox.frames) }
    let wish: SyncWish?
    do throws(VaultError) { wish = try meeting.dialog.next(answer, in: &vault) } catch {
      return try isTriedAgain(error)
    }
    (answer, retry, busyDeadline) = (nil, 0, nil)
    guard let wish else {
      isOver = true
      try write { () throws(ProtocolError) in try outbox.frames.putEnd(of: meeting) }
      return false
    }
    return try begin(wish, &outbox.frames)
  }

  func end(in agent: Agent, for client: Connection) {
    guard isOver else { return }
    client.meeting = nil
    session.mustTrim = true
    session.entrance = meeting.dialog.entrance
    session.unites = meeting.dialog.unites
  }

  /// Has the client do something; what it is to write follows in slices of its own.
  private func begin(_ wish: SyncWish, _ frames: inout SecretBuffer) throws(VaultError) -> Bool {
    let errand: StoreErrand
    switch wish {
    case .heads: errand = StoreErrand(.list, StorePlace.heads)
    case .objects(let device): errand = StoreErrand(.list, StorePlace.objects(of: device.bytes))
    case .file(let path, let most):
      errand = StoreErrand(.fetch, path.text, size: UInt32(clamping: most))
    case .write(let path, let bytes):
      errand = StoreErrand(.write, path.text, size: UInt32(clamping: bytes.count))
      (outgoing, sent) = (bytes, 0)
    case .delete(let path): errand = StoreErrand(.delete, path.text)
    case .nothing:
      steps += 1
      try write { () throws(ProtocolError) in try frames.putProgress(done: steps, total: 0) }
      return true
    }
    meeting.send(for: wish)
    try write { () throws(ProtocolError) in
      try frames.putErrand(errand)
      if outgoing.isEmpty { try frames.putEnd() }
    }
    return !outgoing.isEmpty
  }

  /// Sends more of what is to be written.
  private func send(_ frames: inout SecretBuffer) throws(VaultError) -> Bool {
    let bytes = outgoing
    let slice = min(sent + ProtocolLimit.storePiece, outgoing.count)
    try write { () throws(ProtocolError) in
      while sent < slice {
        let end = min(sent + ProtocolLimit.chunk, slice)
        try frames.putData(bytes.span.extracting(sent..<end), from: .agent)
        sent = end
      }
      if sent == outgoing.count { try frames.putEnd() }
    }
    return sent < outgoing.count
  }

  /// Waits for who writes as any request does.
  private func isTriedAgain(_ error: VaultError) throws(VaultError) -> Bool {
    let now = configuration.clock().monotonic
    let deadline = busyDeadline ?? now + configuration.limits.busy
    guard error == .busy, now < deadline else { throw error }
    (retry, busyDeadline) = (now + configuration.limits.retry, deadline)
    return true
  }
}

extension SecretBuffer {
  /// Says that nothing more is to be done in a store, and what came of it.
  mutating func putEnd(of meeting: StoreMeeting) throws(ProtocolError) {
    try putErrand(StoreErrand())
    try putSync(meeting.dialog.report)
    try putEnd()
  }
}
