// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Tells what bringing two copies of a vault together changed, or would change, in this one.
public struct MergeReport: Equatable, Sendable {
  /// Items that were not here.
  public internal(set) var added: UInt64 = 0
  /// Items of which the other copy had something newer, or something else.
  public internal(set) var changed: UInt64 = 0
  /// Items that are gone, with all their history, since they were purged there.
  public internal(set) var purged: UInt64 = 0
  /// Items with a conflict now: both contents are kept.
  public internal(set) var conflicting: UInt64 = 0
  /// Items that another one's name was taken from, or that got another one since theirs was taken.
  public internal(set) var renamed: UInt64 = 0
  /// Settings that are stricter now.
  public internal(set) var settings: UInt64 = 0
  /// Ways to open the vault that came from there, or ended there.
  public internal(set) var slots: UInt64 = 0
}

extension UnlockedVault {
  /// Brings what another copy of this vault has into this one, in one transaction; nothing of either is lost.
  ///
  /// - Parameters:
  ///   - copy: The other one; it is only read.
  ///   - isTrial: Whether only to tell what would be changed.
  /// - Throws: ``VaultError/takesNewFormat`` for a vault of format 1; ``VaultError/damaged(_:)`` where one of the two
  ///   is; those of the file.
  public mutating func merge(
    _ copy: inout OtherCopy, isTrial: Bool = false
  ) throws(VaultError) -> MergeReport {
    try reading { _ throws(VaultError) in }
    guard format > .first else { throw .takesNewFormat }
    if isTrial {
      return try reading { vault throws(VaultError) in
        try vault.plan(&copy).report
      }
    }
    // Nothing is written where nothing is new.
    let isNothing = try reading { vault throws(VaultError) in
      try vault.plan(&copy).isNothing
    }
    if isNothing { return MergeReport() }
    var kept = (keys.ring.policy, keys.ring.notes)
    defer { (keys.ring.policy, keys.ring.notes) = kept }
    let report = try writing { vault, draft throws(VaultError) in
      kept = (vault.keys.ring.policy, vault.keys.ring.notes)
      let plan = try vault.plan(&copy)
      try vault.carryOut(plan, &copy, &draft)
      try vault.growTree(&draft)
      return plan.report
    }
    kept = (keys.ring.policy, keys.ring.notes)
    try clearWAL()
    return report
  }
}

extension MergeReport {
  mutating func count(_ item: MergeClaim, isPurged: Bool, isRenamed: Bool) {
    if isPurged {
      if item.ours != nil { purged += 1 }
    } else if item.ours == nil {
      added += 1
    } else if item.isNews {
      changed += 1
    }
    if item.isNews, item.hasConflicts { conflicting += 1 }
    if isRenamed || !item.isNews { renamed += 1 }
  }
}
