// SPDX-License-Identifier: MIT

/// Names why a backup does not take the place of what stands where it is to be: nothing is lost by a backup.
public enum BackupFlaw: UInt8, Sendable, CaseIterable {
  /// It is the vault itself.
  case vaultItself = 0
  /// It is no file: a directory, a link, a pipe.
  case notAFile = 1
  /// It is no vault.
  case notAVault = 2
  /// It is another vault.
  case otherVault = 3
  /// It is a vault that somebody works on, or did until he was killed: a WAL stands beside it.
  case inUse = 4
  /// It is a backup of a later state than the vault has, as after going back to an earlier one.
  case newer = 5
}
