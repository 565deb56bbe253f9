// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Does what a client asked for that takes a credential, or a key derivation for another reason.
///
/// The worker prepares it and the loop performs it, so that one thread has it at a time.
protocol Act: AnyObject, Sendable {
  /// Proves what the client shows, and makes what is slow to make; on the worker's thread.
  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError)

  /// Writes the recovery key that the client has to have before anything is done.
  ///
  /// - Returns: Whether there is one, so that the client's word is waited for.
  func showKey(in attempt: Attempt, to client: Connection) throws(Refusal) -> Bool

  /// Whether it asks this machine's TPM or a security key, which may take its time.
  var asksChip: Bool { get }

  /// Lets go of the names in it: the vault was locked. The worker may prepare it meanwhile, which touches none of them.
  func forget()

  /// Does it, and answers; done again when it finds the vault busy.
  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal)
}

extension Act {
  func showKey(in attempt: Attempt, to client: Connection) throws(Refusal) -> Bool { false }

  func forget() {}

  var asksChip: Bool { false }
}

/// Has the worker prepare an act.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class AttemptJob: Job, @unchecked Sendable {
  private let act: any Act
  private var secret: SecretBytes?
  /// Nil where nothing is proved.
  private(set) var tally: Tally?
  private(set) var failure: VaultError?

  init(_ act: any Act, _ secret: consuming SecretBytes, _ tally: Tally?) {
    self.act = act
    self.secret = consume secret
    self.tally = tally
  }

  /// Whether it asks this machine's TPM or a security key.
  var asksChip: Bool {
    act.asksChip || tally?.credential == .tpm || tally?.credential == .fido2
  }

  func mayBegin() -> Bool { tally?.reach() ?? true }

  func run() {
    guard let secret = secret.take() else { return }
    do throws(VaultError) { try act.prepare(secret, self) } catch { failure = error }
  }

  /// Opens a slot by what the client shows, as ``Tally/open(_:only:)`` does.
  func prove(
    _ secret: borrowing SecretBytes, only number: UInt8? = nil
  ) throws(VaultError) -> VaultKey {
    guard let key = try tally?.open(secret, only: number) else { throw .ownerNeeded }
    return key
  }

  /// The same where more has to be right, as ``Tally/open(_:and:)`` does.
  func prove(
    _ secret: borrowing SecretBytes, and more: Tally.Proving
  ) throws(VaultError) -> VaultKey {
    guard let key = try tally?.open(secret, and: more) else { throw .ownerNeeded }
    return key
  }

  /// The same where it is found out elsewhere what the secret opens, as ``Tally/open(_:by:)`` does.
  func prove(
    _ secret: borrowing SecretBytes, by opening: Tally.Opening
  ) throws(VaultError) -> VaultKey {
    guard let key = try tally?.open(secret, by: opening) else { throw .ownerNeeded }
    return key
  }

  /// Opens a slot by what is shown beside that, as ``Tally/openBeside(_:_:)`` does.
  func prove(
    _ credential: Credential, _ secret: borrowing SecretBytes
  ) throws(VaultError) -> VaultKey {
    guard let key = try tally?.openBeside(credential, secret) else { throw .ownerNeeded }
    return key
  }
}

extension UnlockAttempt {
  /// Opens a slot by what is shown, or one of them.
  func opening(only number: UInt8? = nil) -> Tally.Opening {
    { credential, secret, mistake throws(VaultError) in
      try open(credential, secret: secret, only: number, noting: &mistake)
    }
  }
}
