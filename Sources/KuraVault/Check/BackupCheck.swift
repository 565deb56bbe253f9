// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Proves by a vault's keys that a backup is the vault: its root, what stands in front of the items, and the
/// tree over all of them. Drop it before the vault is locked.
public struct BackupCheck: ~Copyable {
  private let backup: Backup
  private var storage: Storage
  private let keys: Keyring
  private let root: RootRecord
  private let checks: IntegrityChecks
  private var tree: IntegrityTree
  /// Of the backups whose place this one takes, those that are still to be looked at.
  private var overtaken: [String]
  private var bucket: UInt32 = 0
  private var itemCount: UInt64 = 0

  fileprivate init(
    _ backup: Backup, _ storage: consuming Storage, _ keys: consuming Keyring, _ root: RootRecord,
    checks: IntegrityChecks
  ) {
    self.backup = backup
    overtaken = backup.overtaken
    self.storage = storage
    self.keys = keys
    self.root = root
    self.checks = checks
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
    guard let path = overtaken.popLast() else { return false }
    if isLater(path) { backup.spare(path) }
    return true
  }

  /// Whether another backup has a later state than this one. What was made under another vault key does not say.
  private func isLater(_ path: String) -> Bool {
    do throws(VaultError) {
      var storage = try fromStorage(Storage.openAsItStands(path))
      try fromStorage(storage.beginRead())
      let front = try FrontRecords(&storage)
      return try Trust(front, keys, checks: checks).root.epoch > root.epoch
    } catch { return false }
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
      backup, storage, try keys.copy(ring: front.ring, of: keys.format), copied.root,
      checks: options.checks)
  }
}
