// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Puts a vault under the key that another machine gave it, once secrets have opened a slot there and the vault here.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Entering: Act, @unchecked Sendable {
  /// All that may be entered.
  private let offers: [Joining.Offer]
  private let session: Session
  /// The slots of the vault as it is here.
  private let own: UnlockAttempt
  /// What is shown for it.
  private let credential: Credential
  /// What opens one of them; nil where it is what opens one there.
  private let ownSecret: SecretBytes?
  private var offer: JoinOffer?
  private var key: VaultKey?
  private var fresh: VaultKey?

  init(
    _ offers: [Joining.Offer], _ own: UnlockAttempt, by credential: Credential,
    _ ownSecret: consuming SecretBytes?, _ session: Session
  ) {
    self.offers = offers
    (self.own, self.credential) = (own, credential)
    self.ownSecret = ownSecret
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    // Both are one try: neither is right before the other is.
    key = try job.prove(secret) { credential, secret, mistake throws(VaultError) in
      let key = try openThere(credential, secret, noting: &mistake)
      var another = Mistake()
      do throws(VaultError) { fresh = try openHere(by: secret, noting: &another) } catch {
        mistake = another
        throw error
      }
      return key
    }
  }

  /// Opens the first that the secret opens, but rather one that did not take out who gave another key.
  private func openThere(
    _ credential: Credential, _ secret: borrowing SecretBytes, noting mistake: inout Mistake
  ) throws(VaultError) -> VaultKey {
    var failure: VaultError?
    var rival: VaultKey?
    for other in offers {
      do throws(VaultError) {
        let key = try other.slots.open(credential, secret: secret, noting: &mistake)
        guard try other.left.removesRivals(by: key) else {
          offer = other.left
          return key
        }
        guard offer == nil else { continue }
        offer = other.left
        rival = consume key
      } catch {
        guard error != .outOfMemory else { throw error }
        // What one of them has against the secret counts more than what is wrong with another one.
        if failure == nil || error.isWrongSecret { failure = error }
      }
    }
    guard let key = rival.take() else { throw failure ?? .copyDamaged }
    return key
  }

  private func openHere(
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
    guard let offer else { throw .copyDamaged }
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
    var offers: [Joining.Offer] = []
    let here: UnlockAttempt
    do throws(VaultError) {
      for left in [offer] + offer.others {
        offers.append((left, try left.attempt(stateDirectory: configuration.stateDirectory)))
      }
      here = try file.attempt()
    } catch { throw Refusal(error, at: connection.vaultPath) }
    let there = Tally(offers[0].slots, for: credential, .unknown, tallies)
    // The session has the vault, which is what is changed.
    file.close()
    try checkWait(there, secret, session)
    let act = Entering(offers, here, by: request.here.credential ?? credential, own, session)
    start(Attempt(act, secret, there, of: session, for: connection), for: connection)
  }
}
