// SPDX-License-Identifier: MIT

/// What a secret in a request is; also what a key slot takes.
public enum CredentialKind: UInt8, Sendable, CaseIterable {
  /// A passcode, as typed: it is prepared in the engine.
  case passcode = 1
  /// A recovery key, as typed.
  case recoveryKey = 2
  /// The bytes of a key file.
  case keyFile = 3
  /// A short code, as typed, which opens a slot only beside a secret of one machine.
  ///
  /// To unlock, what is typed goes as a passcode, which may be such a code as well.
  case local = 4
}
