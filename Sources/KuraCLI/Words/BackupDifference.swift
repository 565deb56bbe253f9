// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Tells people what a backup has, and how that differs from the vault whose place it is to take.
struct BackupDifference {
  /// Holds what is known of a vault that is open.
  struct Side {
    let epoch: UInt64
    /// Sorted by their names.
    let items: [Item]

    /// The time of the newest change, in ms of Unix time; 0 without items.
    var newest: UInt64 { items.map { $0.facts.modified }.max() ?? 0 }

    /// Reads it from an engine that has the vault unlocked.
    static func read(_ connection: inout Connection) throws(ClientError) -> Side {
      let epoch = try connection.status().epoch
      var items: [Item] = []
      try connection.list { items.append($0) }
      items.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      return Side(epoch: epoch, items: items)
    }

    fileprivate var words: String {
      let count = items.count == 1 ? "1 item" : "\(items.count) items"
      let time = newest == 0 ? "" : ", the newest of " + Moment.local(newest)
      return count + time + ", epoch \(epoch)"
    }
  }

  /// Names of one kind that are told; of the others, how many there are.
  private static let mostNames = 20

  let backup: Side
  /// Nil where the vault cannot be looked into.
  let vault: Side?

  /// A line each.
  var lines: [String] {
    var lines = ["the backup has " + backup.words]
    guard let vault else { return lines }
    lines.append("the vault has " + vault.words)
    let changes = changes(from: vault)
    lines += Self.told("would go", changes.gone)
    lines += Self.told("would come", changes.come)
    lines += Self.told("would be older", changes.older)
    lines += Self.told("would be newer", changes.newer)
    if lines.count == 2 { lines.append("no item would change") }
    return lines
  }

  private struct Changes {
    var gone: [String] = []
    var come: [String] = []
    var older: [String] = []
    var newer: [String] = []
  }

  private func changes(from vault: Side) -> Changes {
    var changes = Changes()
    var (mine, theirs) = (vault.items[...], backup.items[...])
    while let old = mine.first, let new = theirs.first {
      if old.name.utf8.elementsEqual(new.name.utf8) {
        let (was, next) = (old.facts, new.facts)
        if (was.revision, was.modified) > (next.revision, next.modified) {
          changes.older.append(old.name)
        } else if (was.revision, was.modified) < (next.revision, next.modified) {
          changes.newer.append(old.name)
        }
        mine.removeFirst()
        theirs.removeFirst()
      } else if old.name.utf8.lexicographicallyPrecedes(new.name.utf8) {
        changes.gone.append(old.name)
        mine.removeFirst()
      } else {
        changes.come.append(new.name)
        theirs.removeFirst()
      }
    }
    changes.gone += mine.map { $0.name }
    changes.come += theirs.map { $0.name }
    return changes
  }

  private static func told(_ what: String, _ names: [String]) -> [String] {
    guard !names.isEmpty else { return [] }
    var lines = [what + ": " + (names.count == 1 ? "1 item" : "\(names.count) items")]
    for name in names.prefix(mostNames) { lines.append("  " + Diagnostic.shown(name)) }
    if names.count > mostNames { lines.append("  and \(names.count - mostNames) more") }
    return lines
  }
}
