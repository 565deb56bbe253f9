// SPDX-License-Identifier: MIT

public import KuraTerms
public import SecureMemory

/// Speaks to security keys for the engine; it is shown a PIN where a key takes one.
public protocol SecurityKeys: Sendable {
  /// What the key that made a credential asks for; for none, the one that is plugged in.
  func facts(of credential: KeyCredential?) throws(ChipFault) -> SecurityKeyFacts

  /// Has the key that is plugged in make a credential, and give its secret for a salt: two touches.
  func enrol(
    salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> EnrolledKey

  /// Has the key that made a credential give its secret: one touch.
  func secret(
    of credential: KeyCredential, salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes
}

/// Holds what a security key has made for a slot, and its secret, 32 bytes.
public struct EnrolledKey: ~Copyable, Sendable {
  let credential: KeyCredential
  let secret: SecretBytes

  /// What a key has made.
  public init(_ credential: KeyCredential, secret: consuming SecretBytes) {
    self.credential = credential
    self.secret = secret
  }
}
