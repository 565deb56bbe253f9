// SPDX-License-Identifier: MIT

/// Names why a file is not brought together with a vault: nothing of either was changed.
public enum CopyFlaw: UInt8, Sendable, CaseIterable {
  /// It is the vault itself.
  case vaultItself = 0
  /// Nothing stands there.
  case missing = 1
  /// It is no vault.
  case notAVault = 2
  /// It is another vault.
  case otherVault = 3
  /// It is a vault that somebody works on, or did until he was killed: a WAL stands beside it.
  case inUse = 4
  /// It stands under another vault key.
  case otherKey = 5
  /// It was written by a later release.
  case newerFormat = 6
  /// It could not be read.
  case unreadable = 7
  /// With it more changes would stand side by side than a vault has room for.
  case tooManySides = 8
}
