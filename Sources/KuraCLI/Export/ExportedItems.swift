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
  private let access: VaultAccess
  private var held: Held

  private init(names: [String], _ prefix: String, _ access: VaultAccess, _ held: consuming Held) {
    self.names = names
    self.prefix = prefix
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
    var order = ListOrder()
    order.prefix = prefix
    try access.unlocked(authorizing: true, holding: &held) { connection throws(ClientError) in
      names = []
      order.flags = []
      try connection.list(order) { item throws(ClientError) in
        if format.hasCodes || item.facts.kind != .otp { names.append(item.name) }
      }
      guard format.hasDeleted else { return }
      order.flags = .deleted
      try connection.list(order) { item throws(ClientError) in names.append(item.name) }
    }
    try prove(access, &held)
    names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return ExportedItems(names: names, prefix, access, held)
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
