// SPDX-License-Identifier: MIT

public import KuraProtocol
internal import SecureMemory

/// Tells what bringing another copy of the vault and this one together came to.
public struct MergeOutcome: Sendable {
  /// Items that were not here.
  public let added: UInt64
  /// Items of which the copy had something that was not here.
  public let changed: UInt64
  /// Items that are gone, since they were purged there.
  public let purged: UInt64
  /// Items with a conflict now.
  public let conflicting: UInt64
  /// Items that got another name, or got theirs back.
  public let renamed: UInt64
  /// Settings that are stricter now.
  public let settings: UInt64
  /// Ways to open the vault that came from there, or ended there.
  public let slots: UInt64
  /// Where the copy is of a vault that was taken over for it; nil where it had the format already.
  public let copy: String?
}

/// Tells of something on which copies of the vault do not agree.
public struct Conflict: Sendable {
  /// The item's name.
  public let name: String
  /// What of it.
  public let part: ConflictPart
  /// The revision here that has the other content; 0 for none.
  public let revision: UInt64
  /// The attribute's key, or the name that the item would have; empty for all else.
  public let text: String
}

extension Connection {
  /// Brings another copy of the vault and this one together.
  ///
  /// - Parameters:
  ///   - path: Where the other copy stands; absolute.
  ///   - isTrial: Whether only to tell what would be changed.
  public mutating func merge(
    _ path: String, isTrial: Bool = false
  ) throws(ClientError) -> MergeOutcome {
    try send(.merge(MergeRequest(path: path.utf8.span, isTrial: isTrial)))
    let reply: MergeReply = try replied(received(try answer()))
    return MergeOutcome(
      added: reply.added, changed: reply.changed, purged: reply.purged,
      conflicting: reply.conflicting, renamed: reply.renamed, settings: reply.settings,
      slots: reply.slots, copy: reply.copy.bytes.isEmpty ? nil : String(repairing: reply.copy.bytes)
    )
  }

  /// All on which copies of the vault do not agree, by name.
  public mutating func conflicts() throws(ClientError) -> [Conflict] {
    var conflicts: [Conflict] = []
    var next: [UInt8] = []
    repeat {
      try send(.conflicts(ConflictsRequest(from: next.span)))
      let reply: ConflictsReply = try replied(received(try answer()))
      reply.forEach { conflict in
        guard let part = ConflictPart(rawValue: conflict.part) else { return }
        conflicts.append(
          Conflict(
            name: String(repairing: conflict.name), part: part, revision: conflict.revision,
            text: String(repairing: conflict.text)))
      }
      next = [UInt8](copying: reply.next.bytes)
    } while !next.isEmpty
    conflicts.sort { ($0.name, $0.part.rawValue) < ($1.name, $1.part.rawValue) }
    return conflicts
  }
}
