// SPDX-License-Identifier: MIT

/// What a secret in a request is; also what a key slot takes.
public enum CredentialKind: UInt8, Sendable, CaseIterable {
  /// A passcode, as typed: it is prepared in the engine.
  case passcode = 1
  /// A recovery key, as typed.
  case recoveryKey = 2
  /// The bytes of a key file.
  case keyFile = 3
}
