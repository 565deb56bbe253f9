// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Makes a vault of what another machine left in a store, once a secret opens that, and unlocks it.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Joining: Act, @unchecked Sendable {
  private let offer: JoinOffer
  private let path: String
  private let options: VaultOptions
  /// Nil for what the machine is called.
  private let label: [UInt8]?
  private var draft: VaultDraft?
  private var key: VaultKey?

  init(_ offer: JoinOffer, at path: String, _ options: VaultOptions, label: [UInt8]?) {
    self.offer = offer
    self.path = path
    self.options = options
    self.label = label
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    // For a vault that cannot be nothing is tried, and nothing counted.
    try VaultDraft.checkPlace(path)
    // What was made up about the vault tells nothing of who tries: the record has to open, too.
    let key = try job.prove(secret) { key, _ throws(VaultError) in try offer.check(by: key) }
    draft = try VaultDraft.join(offer, at: path, options: options, by: key, label: label)
    self.key = key.ofJoined()
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard let draft = draft.take(), let key = key.take() else { throw .outOfMemory }
    do throws(VaultError) { try draft.commit() } catch {
      // It went with what it was made of.
      throw Refusal(error, at: path).final(when: true)
    }
    try agent.unlock(joined: key, for: client)
    try wire { () throws(ProtocolError) in try client.outbox.frames.putReply() }
  }
}

extension Agent {
  func joinSync(_ request: SyncJoinRequest, _ connection: Connection) throws(Refusal) {
    try checkMemory()
    try checkAttempts()
    let path = connection.vaultPath
    guard !path.isEmpty else { throw .pathInvalid }
    guard let credential = request.word.credential else { throw .malformed }
    let secret = try secret(request.word.secret.bytes)
    let label = request.label.bytes.indices.map { request.label.bytes[$0] }
    let offer: JoinOffer
    let tally: Tally
    let other: [UInt8]?
    do throws(VaultError) {
      offer = try JoinOffer(
        head: request.head.bytes, header: request.header.bytes, record: request.record.bytes)
      let slots = try offer.attempt(stateDirectory: configuration.stateDirectory)
      tally = Tally(slots, for: credential, .unknown, tallies)
      other = try VaultDraft.otherPlace(of: offer, than: path, options: options)
    } catch { throw Refusal(error, at: path) }
    if let other { throw .vaultExists(.text(String(decoding: other, as: UTF8.self))) }
    try checkWait(tally, secret, nil)
    let act = Joining(offer, at: path, options, label: label.isEmpty ? nil : label)
    start(Attempt(act, secret, tally, for: connection), for: connection)
  }

  /// Unlocks a vault that was made just now, which is there whatever comes of that.
  fileprivate func unlock(
    joined key: consuming VaultKey, for client: Connection
  ) throws(Refusal) {
    let path = client.vaultPath
    let credential = key.credential
    do throws(Refusal) {
      let file = try openLocked(client)
      let session = session(of: file, at: path)
      let opened: UnlockedVault
      do throws(VaultError) { opened = try file.unlock(with: key) } catch {
        throw Refusal(error, at: path)
      }
      session.unlock(opened, by: path, asking: AskedTimes(), at: configuration.clock())
      noteUnlock(of: session, by: client, credential, [])
      answerWaiting(session)
    } catch { throw error.final(when: true) }
  }
}
