// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Puts a vault under the key that another machine gave it, once secrets have opened a slot there and the vault here.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Entering: Act, @unchecked Sendable {
  private var offer: JoinOffer
  private let session: Session
  /// The slots of the vault as it is here.
  private let own: UnlockAttempt
  private let stateDirectory: String
  /// What is shown for it.
  private let credential: Credential
  /// What opens one of them; nil where it is what opens one there.
  private let ownSecret: SecretBytes?
  private var key: VaultKey?
  private var fresh: VaultKey?

  init(
    _ offer: JoinOffer, _ own: UnlockAttempt, by credential: Credential,
    _ ownSecret: consuming SecretBytes?, _ session: Session, in stateDirectory: String
  ) {
    self.stateDirectory = stateDirectory
    self.offer = offer
    (self.own, self.credential) = (own, credential)
    self.ownSecret = ownSecret
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    // Both are one try: neither is right before the other is.
    key = try job.prove(secret) { key, mistake throws(VaultError) in
      try offer.check(by: key)
      fresh = try open(by: secret, noting: &mistake)
    }
    try chooseOther(secret)
  }

  /// Where several keys were given, one is entered that did not take out who gave another one.
  private func chooseOther(_ secret: borrowing SecretBytes) throws(VaultError) {
    guard try isRival(key) else { return }
    for other in offer.others {
      let slots = try other.attempt(stateDirectory: stateDirectory)
      guard let found = try? slots.open(credential, secret: secret),
        try !other.removesRivals(by: found)
      else { continue }
      offer = other
      key = consume found
      return
    }
  }

  private func isRival(_ key: borrowing VaultKey?) throws(VaultError) -> Bool {
    switch key {
    case .some(let key): try offer.removesRivals(by: key)
    case .none: false
    }
  }

  private func open(
    by secret: borrowing SecretBytes, noting mistake: inout Mistake
  ) throws(VaultError) -> VaultKey {
    switch ownSecret {
    case .some(let ownSecret):
      return try own.open(credential, secret: ownSecret, noting: &mistake)
    case .none:
      do throws(VaultError) { return try own.open(credential, secret: secret) } catch {
        guard error.isWrongSecret || error == .noSuchSlot(credential) else { throw error }
        throw .ownerNeeded
      }
    }
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked else { throw session.lockedRefusal() }
    let rekey = try agent.work(on: session) { vault throws(VaultError) in
      try begin(&vault, key, fresh)
    }
    (session.entrance, session.unites) = (nil, false)
    agent.revokeGrants(of: session)
    client.phase = .sending(RekeyWork(rekey, of: session))
  }

  private func begin(
    _ vault: inout UnlockedVault, _ key: borrowing VaultKey?, _ fresh: borrowing VaultKey?
  ) throws(VaultError) -> Rekey {
    switch key {
    case .some(let key):
      switch fresh {
      case .some(let fresh):
        return try vault.beginEntering(offer, by: key, authorizedBy: fresh)
      case .none: throw .outOfMemory
      }
    case .none: throw .outOfMemory
    }
  }
}

extension Agent {
  func enterSync(_ request: SyncEnterRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    guard let offer = session.entrance else {
      guard session.unites else { throw .notFound(.none) }
      return try uniteSync(request.there, session, connection)
    }
    guard let credential = request.there.credential else { throw .malformed }
    var file = try openForAttempt(connection)
    let secret = try secret(request.there.secret.bytes)
    let own = request.here.credential == nil ? nil : try self.secret(request.here.secret.bytes)
    let there: Tally
    let here: UnlockAttempt
    do throws(VaultError) {
      let slots = try offer.attempt(stateDirectory: configuration.stateDirectory)
      there = Tally(slots, for: credential, .unknown, tallies)
      here = try file.attempt()
    } catch { throw Refusal(error, at: connection.vaultPath) }
    // The session has the vault, which is what is changed.
    file.close()
    try checkWait(there, secret, session)
    let act = Entering(
      offer, here, by: request.here.credential ?? credential, own, session,
      in: configuration.stateDirectory)
    start(Attempt(act, secret, there, of: session, for: connection), for: connection)
  }
}
