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
  /// Settings that were made looser there, and are so here from the owner's next unlock on.
  public internal(set) var looserSettings: UInt64 = 0
  /// Ways to open the vault that came from there, or ended there.
  public internal(set) var slots: UInt64 = 0
  /// Ways to open the vault that came from there, and find no room here.
  public internal(set) var waitingSlots: UInt64 = 0
  /// Whether each passcode and recovery key was ended by one copy or the other, so that all of them stand.
  public internal(set) var keptSlots = false
}

extension UnlockedVault {
  /// Brings what another copy of this vault has into this one, in one transaction; nothing of either is lost.
  ///
  /// - Parameters:
  ///   - copy: The other one; it is only read.
  ///   - isTrial: Whether only to tell what would be changed.
  /// - Throws: As ``beginMerge(_:isTrial:)`` and ``MergeWork/step()`` do.
  public mutating func merge(
    _ copy: consuming OtherCopy, isTrial: Bool = false
  ) throws(VaultError) -> MergeReport {
    var work = try beginMerge(copy, isTrial: isTrial)
    while try work.step() {}
    return try finish(work)
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
