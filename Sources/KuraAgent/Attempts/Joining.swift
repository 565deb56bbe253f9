// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Makes a vault of what another machine left in a store, once a secret opens that, and unlocks it.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Joining: Act, @unchecked Sendable {
  /// Pairs what a machine left with its slots.
  typealias Offer = (left: JoinOffer, slots: UnlockAttempt)

  private let offers: [Offer]
  private let path: String
  private let options: VaultOptions
  /// Nil for what the machine is called.
  private let label: [UInt8]?
  private var draft: VaultDraft?
  private var key: VaultKey?

  init(_ offers: [Offer], at path: String, _ options: VaultOptions, label: [UInt8]?) {
    self.offers = offers
    self.path = path
    self.options = options
    self.label = label
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    // For a vault that cannot be nothing is tried, and nothing counted.
    try VaultDraft.checkPlace(path)
    // Whatever is offered, it is one try of one secret.
    var opened: JoinOffer?
    let key = try job.prove(secret) { credential, secret, mistake throws(VaultError) in
      try open(credential, secret, noting: &mistake, &opened)
    }
    guard let opened else { throw .copyDamaged }
    draft = try VaultDraft.join(opened, at: path, options: options, by: key, label: label)
    self.key = key.ofJoined()
  }

  /// Opens the first that the secret opens.
  private func open(
    _ credential: Credential, _ secret: borrowing SecretBytes, noting mistake: inout Mistake,
    _ opened: inout JoinOffer?
  ) throws(VaultError) -> VaultKey {
    var failure: VaultError?
    for offer in offers {
      do throws(VaultError) {
        let key = try offer.slots.open(credential, secret: secret, noting: &mistake)
        // What was made up about the vault tells nothing of who tries: the record has to open, too.
        try offer.left.check(by: key)
        opened = offer.left
        return key
      } catch {
        guard error != .outOfMemory else { throw error }
        // What one of them has against the secret counts more than what is wrong with another one.
        if failure == nil || error.isWrongSecret { failure = error }
      }
    }
    throw failure ?? .copyDamaged
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
    let offers = try offers(request.offers, at: path)
    let tally = Tally(offers[0].slots, for: credential, .unknown, tallies)
    let other: [UInt8]?
    do throws(VaultError) {
      other = try VaultDraft.otherPlace(of: offers[0].left, than: path, options: options)
    } catch { throw Refusal(error, at: path) }
    if let other { throw .vaultExists(.text(String(decoding: other, as: UTF8.self))) }
    try checkWait(tally, secret, nil)
    let act = Joining(offers, at: path, options, label: label.isEmpty ? nil : label)
    start(Attempt(act, secret, tally, for: connection), for: connection)
  }

  /// Those that are what a machine of the first one's vault may have left; there is at least one.
  private func offers(
    _ fields: OfferFields, at path: String
  ) throws(Refusal) -> [Joining.Offer] {
    var offers: [Joining.Offer] = []
    var flaw: VaultError?
    fields.forEach { head, header, record in
      do throws(VaultError) {
        let left = try JoinOffer(head: head, header: header, record: record)
        let slots = try left.attempt(stateDirectory: configuration.stateDirectory)
        guard offers.isEmpty || offers[0].slots.vault == slots.vault else { return }
        offers.append((left, slots))
      } catch { flaw = flaw ?? error }
    }
    guard !offers.isEmpty else { throw Refusal(flaw ?? .copyDamaged, at: path) }
    return offers
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
