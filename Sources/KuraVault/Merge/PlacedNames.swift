// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import SecureMemory

/// Gives each item the name under which it stands, where several want the same one.
///
/// No revision says it: each copy derives the same names of the same items. Names themselves are secrets, and so this
/// goes by their tags.
enum PlacedNames {
  /// Says what an item brings with it when its name is decided.
  struct Claim: Sendable {
    let item: ItemID
    let state: RevisionState
    let protection: ProtectionClass
    /// The tag of the name that it wants.
    let wanted: ItemTag
  }

  /// Which name each item gets: 0 for the one it wants, else the number of the attempt that was free.
  ///
  /// Protected items come before others, so that none of these stands where a protected one is looked for; live ones
  /// before deleted ones; then goes the lower id.
  ///
  /// - Parameters:
  ///   - claims: The items, in any order; purged ones stand under no name.
  ///   - tag: The tag of ``name(_:of:attempt:)`` for a claim.
  static func attempts(
    of claims: some Sequence<Claim>,
    tag: (Claim, _ attempt: Int) throws(VaultError) -> ItemTag
  ) throws(VaultError) -> [ItemID: Int] {
    let order = claims.filter { $0.state != .purged }.sorted { $0.rank < $1.rank }
    var (taken, attempts): (Set<ItemTag>, [ItemID: Int]) = ([], [:])
    for claim in order {
      var (attempt, wanted) = (0, claim.wanted)
      while !taken.insert(wanted).inserted {
        attempt += 1
        wanted = try tag(claim, attempt)
      }
      attempts[claim.item] = attempt
    }
    return attempts
  }

  /// The name that is tried when others were taken: `NAME (8 digits of the id)`, with one more each time, after all 32
  /// with a number; NAME is cut at a character so that it is no longer than a name may be.
  ///
  /// - Parameters:
  ///   - wanted: A name that follows the rules.
  ///   - item: Whose it is.
  ///   - attempt: From 1.
  /// - Throws: ``VaultError/outOfMemory``.
  static func name(
    _ wanted: Span<UInt8>, of item: ItemID, attempt: Int
  ) throws(VaultError) -> SecretBytes {
    let digits = 7 + attempt
    let id = Array(item.hexadecimal.utf8)
    var end = " (".utf8 + id.prefix(digits)
    if digits > id.count { end += Array(", \(digits - id.count + 1)".utf8) }
    end.append(UInt8(ascii: ")"))
    var count = min(wanted.count, ItemName.longest - end.count)
    while count < wanted.count, count > 0, wanted[count] & 0xC0 == 0x80 { count -= 1 }
    do {
      var name = try SecretBuffer(capacity: count + end.count)
      try name.append(wanted.extracting(0..<count))
      try name.append(end.span)
      return name.finish()
    } catch { throw .outOfMemory }
  }
}

extension PlacedNames.Claim {
  fileprivate var rank: (Int, Int, ItemID) {
    (protection == .protected ? 0 : 1, state == .live ? 0 : 1, item)
  }
}
