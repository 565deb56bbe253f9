// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Proves by a vault's keys that a backup is the vault: its root, what stands in front of the items, and the
/// tree over all of them. Drop it before the vault is locked.
public struct BackupCheck: ~Copyable {
  private var storage: Storage
  private let keys: Keyring
  private let root: RootRecord
  private var tree: IntegrityTree
  private var bucket: UInt32 = 0
  private var itemCount: UInt64 = 0

  fileprivate init(
    _ storage: consuming Storage, _ keys: consuming Keyring, _ root: RootRecord,
    checks: IntegrityChecks
  ) {
    self.storage = storage
    self.keys = keys
    self.root = root
    tree = IntegrityTree(checks: checks)
  }

  /// Does a few milliseconds of work.
  ///
  /// - Returns: Whether there is more to do.
  /// - Throws: ``VaultError/damaged(_:)`` for what is not what the root says.
  public mutating func step() throws(VaultError) -> Bool {
    let first = bucket
    let count: UInt32 = 1 << (6 * UInt32(root.depth))
    while bucket < count, bucket - first < Slice.bucketLimit {
      let leaves = try tree.leaves(ofBucket: bucket, under: root, in: &storage, keys)
      itemCount += UInt64(BucketLeaves(leaves.span).count)
      bucket += 1
    }
    guard bucket == count else { return true }
    guard itemCount == root.itemCount else { throw .damaged(.root) }
    return false
  }
}

extension UnlockedVault {
  /// Begins to look at what a backup has copied.
  ///
  /// - Parameters:
  ///   - backup: Copied, and not published yet.
  ///   - epoch: What the vault had when the backup began; an older copy is none of it.
  /// - Throws: ``VaultError/damaged(_:)``, and those of the file.
  public func beginCheck(
    of backup: Backup, notBefore epoch: UInt64
  ) throws(VaultError) -> BackupCheck {
    guard let path = backup.draftPath else { throw .noVault }
    var storage = try fromStorage(Storage.openAsItStands(path))
    try fromStorage(storage.beginRead())
    let front = try FrontRecords(&storage)
    let copied = try Trust(front, keys, checks: options.checks)
    guard copied.root.epoch >= epoch, front.header == trust.header else { throw .damaged(.root) }
    return BackupCheck(
      storage, try keys.copy(ring: front.ring, of: keys.format), copied.root, checks: options.checks
    )
  }
}
