// SPDX-License-Identifier: MIT

internal import KuraVault
internal import SecureMemory

/// Derives a vault's key from what a client presents.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class CredentialJob: Job, @unchecked Sendable {
  private(set) var guess: Guess
  private let credential: Credential
  private var secret: SecretBytes?
  private var key: VaultKey?
  private(set) var failure: VaultError?
  private let keepsPasscode: Bool
  private let takesCodes: Bool
  /// A passcode that was right; wiped with the job.
  private var proved: SecretBytes?

  /// - Parameters:
  ///   - keepingPasscode: In case its slot is to be wrapped anew, see ``strengthening()``.
  ///   - takingCodes: Whether what goes as a passcode may be a code for this machine.
  init(
    _ guess: Guess, _ credential: Credential, _ secret: consuming SecretBytes,
    keepingPasscode: Bool = false, takingCodes: Bool = true
  ) {
    self.guess = guess
    self.credential = credential
    takesCodes = takingCodes
    keepsPasscode = keepingPasscode && credential == .passcode
    self.secret = consume secret
  }

  func mayBegin() -> Bool { guess.reach(credential) }

  func run() {
    guard let secret = secret.take() else { return }
    do throws(VaultError) {
      key =
        credential == .passcode && takesCodes
        ? try guess.openTyped(secret) : try guess.open(credential, secret: secret)
      if keepsPasscode { proved = consume secret }
    } catch { failure = error }
  }

  /// What wraps the slot anew by the passcode that opened it; once.
  func strengthening() -> StrengthenJob? {
    guard let passcode = proved.take() else { return nil }
    return StrengthenJob(guess.attempt, passcode)
  }

  /// The key, once.
  func takeKey() throws(VaultError) -> VaultKey {
    guard let key = key.take() else { throw failure ?? .outOfMemory }
    return key
  }
}
