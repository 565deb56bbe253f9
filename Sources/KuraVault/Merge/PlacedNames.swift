// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import SecureMemory

/// Gives each item the name under which it stands, where several want the same one, item by item.
///
/// No revision says it: each copy derives the same names of the same items. Names themselves are secrets, and so this
/// goes by their tags. Protected items come before others, so that none of these stands where a protected one is looked
/// for; live ones before deleted ones; then goes the lower id.
struct PlacedNames {
  /// Says what an item brings with it when its name is decided.
  struct Claim: Sendable {
    let item: ItemID
    let state: RevisionState
    let protection: ProtectionClass
    /// The tag of the name that it wants.
    let wanted: ItemTag
  }

  /// Says under which of its names an item stands.
  struct Place: Equatable, Sendable {
    /// 0 for the name it wants, else the number of the attempt that was free.
    let attempt: Int
    let tag: ItemTag
  }

  /// Those that have no name yet, the first one last.
  private var left: [Claim]
  private var taken: Set<ItemTag> = []
  private(set) var places: [ItemID: Place] = [:]

  /// - Parameter claims: The items, in any order; purged ones stand under no name.
  init(_ claims: some Sequence<Claim>) {
    left = claims.filter { $0.state != .purged }.sorted { $0.rank > $1.rank }
  }

  /// Gives the next item a name.
  ///
  /// - Parameter tag: The tag of ``name(_:of:attempt:)`` for a claim.
  /// - Returns: Whether there was one without.
  mutating func step(
    _ tag: (Claim, _ attempt: Int) throws(VaultError) -> ItemTag
  ) throws(VaultError) -> Bool {
    guard let claim = left.popLast() else { return false }
    var place = Place(attempt: 0, tag: claim.wanted)
    while !taken.insert(place.tag).inserted {
      place = Place(attempt: place.attempt + 1, tag: try tag(claim, place.attempt + 1))
    }
    places[claim.item] = place
    return true
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
