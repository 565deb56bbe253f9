// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Reads the items that are exported, one after another, after a fresh proof that their owner is there.
struct ExportedItems: ~Copyable {
  /// Sorted by their bytes.
  let names: [String]
  /// What all of them begin with, as it was asked for.
  let prefix: String
  /// What the form holds of no item.
  var losses: ExportLosses
  private let access: VaultAccess
  private var held: Held

  private init(
    names: [String], _ prefix: String, _ losses: ExportLosses, _ access: VaultAccess,
    _ held: consuming Held
  ) {
    self.names = names
    self.prefix = prefix
    self.losses = losses
    self.access = access
    self.held = held
  }

  /// Finds those whose names begin with a prefix.
  ///
  /// - Throws: ``CommandError/noInteraction(_:)`` where the passcode is not given and nobody can be asked, also while
  ///   the vault is unlocked: what leaves it all at once is its owner's to give.
  static func find(
    _ prefix: String, _ format: ExportFormat, _ access: VaultAccess
  ) throws(CommandError) -> ExportedItems {
    var held = Held(keepsSecret: true)
    var names: [String] = []
    var losses = ExportLosses(format)
    try access.unlocked(authorizing: true, holding: &held) { connection throws(ClientError) in
      names = []
      losses = ExportLosses(format)
      try find(prefix, format, &names, &losses, &connection)
    }
    try prove(access, &held)
    names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return ExportedItems(names: names, prefix, losses, access, held)
  }

  private static func find(
    _ prefix: String, _ format: ExportFormat, _ names: inout [String],
    _ losses: inout ExportLosses, _ connection: inout Connection
  ) throws(ClientError) {
    var order = ListOrder()
    order.prefix = prefix
    try connection.list(order) { item throws(ClientError) in
      if format.hasCodes || item.facts.kind != .otp {
        names.append(item.name)
      } else {
        losses.addCode()
      }
    }
    order.flags = .deleted
    try connection.list(order) { item throws(ClientError) in
      if format.hasDeleted { names.append(item.name) } else { losses.addDeleted() }
    }
    try connection.conflicts { conflict throws(ClientError) in
      if conflict.name.utf8.starts(with: prefix.utf8) { losses.addConflict() }
    }
  }

  private static func prove(_ access: VaultAccess, _ held: inout Held) throws(CommandError) {
    guard var connection = held.connection.take() else { return }
    // Who unlocked the vault for this has just proved it; a code for this machine proves nothing.
    let isTyped = held.secret.isTyped
    let isGiven = held.secret.take() != nil
    let mayBeCode = isTyped ? try access.takesCodes(&connection) : false
    if !isGiven || mayBeCode {
      let purpose = Purpose("export", access.title)
      guard try access.authorize(&connection, to: purpose) else {
        throw .noInteraction(.owner(purpose.text))
      }
    }
    held.connection = consume connection
  }

  /// The revisions of an item that are kept, the current one last; none where it is gone by now.
  mutating func revisions(of name: String) throws(CommandError) -> [Item] {
    try access.unlocked(authorizing: true, holding: &held) { connection throws(ClientError) in
      var items: [Item] = []
      do throws(ClientError) {
        try connection.history(name) { item throws(ClientError) in items.append(item) }
      } catch {
        guard case .refused(.notFound) = error else { throw error }
      }
      return items
    }
  }

  /// Goes over the values that an entry's own item had before; what is no text of an entry's length is told.
  ///
  /// - Parameters:
  ///   - isFirst: Whether the oldest comes first.
  ///   - body: Gets the revision, when another value took its place, and its value.
  mutating func eachEarlier(
    of entry: borrowing ExportedEntry, flaw: (String, String) -> Void,
    fromFirst isFirst: Bool = false,
    _ body: (Item, UInt64, Span<UInt8>) throws(CommandError) -> Void
  ) throws(CommandError) {
    let name = entry.item.name
    let limit = ExportedEntry.longest
    let revisions = try revisions(of: name)
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
    let earlier = revisions.indices.dropLast().filter { revisions[$0].facts.kind == .value }
    for index in isFirst ? earlier : earlier.reversed() {
      let told = revisions[index]
      let item = try read(name, revision: told.facts.revision, into: &value, limit: limit)
      guard item.facts.size <= UInt64(limit), UTF8Scanner.isText(value.bytes) else {
        flaw("revision \(item.facts.revision)", "its value is no text that an entry takes")
        continue
      }
      try body(item, revisions[index + 1].facts.modified, value.bytes)
    }
  }

  /// Reads the secret attributes of a revision.
  ///
  /// - Parameters:
  ///   - item: What was read of it.
  ///   - revision: 0 for the current one.
  mutating func secrets(
    of item: Item, _ name: String, revision: UInt64 = 0
  ) throws(CommandError) -> MemberPairs {
    var pairs = try running { () throws(ClientError) in try MemberPairs() }
    try access.unlocked(authorizing: true, holding: &held) { connection throws(ClientError) in
      try pairs.read(of: item, name, revision: revision, &connection)
    }
    return pairs
  }

  /// Reads a revision with its attributes.
  ///
  /// - Parameters:
  ///   - revision: 0 for the current one.
  ///   - value: Gets its value; what of it is beyond `limit` is dropped.
  mutating func read(
    _ name: String, revision: UInt64, into value: inout SecretBuffer, limit: Int
  ) throws(CommandError) -> Item {
    try access.unlocked(authorizing: true, holding: &held) { connection throws(ClientError) in
      value.removeAll()
      return try connection.getWhole(name, revision: revision) { part throws(ClientError) in
        guard value.count + part.count <= limit else { return }
        do throws(SecureMemoryError) { try value.append(part) } catch { throw .outOfMemory }
      }
    }
  }

  /// Reads a revision part by part, so that memory does not grow with its value.
  ///
  /// - Parameter body: Gets its value; what it did cannot be done again after an unlock.
  mutating func read(
    _ name: String, revision: UInt64, into body: (Span<UInt8>) throws(CommandError) -> Void
  ) throws(CommandError) -> Item {
    var late: CommandError?
    do throws(CommandError) {
      return try access.unlocked(authorizing: true, holding: &held) {
        connection throws(ClientError) in
        var hasBegun = false
        do throws(ClientError) {
          return try connection.getWhole(name, revision: revision) { part throws(ClientError) in
            hasBegun = true
            do throws(CommandError) { try body(part) } catch {
              late = error
              throw .stopped
            }
          }
        } catch {
          guard hasBegun else { throw error }
          if late == nil { late = .client(error) }
          throw .stopped
        }
      }
    } catch { throw late ?? error }
  }
}
