// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Makes the digest of everything that stands in front of the items: header, ring and all slots.
///
/// It stands in the root, so that no slot or ring can be added, removed or reverted unnoticed.
public struct HeaderDigest: ~Copyable {
  private static let domain: UInt8 = 4
  private static let sharedDomain: UInt8 = 7

  private var hash: KeyedHash
  private var slotsLeft: Int

  /// Begins with header and ring, as they stand in the file.
  ///
  /// - Parameters:
  ///   - key: The vault key's subkey for the root.
  ///   - devices: What copies know of each other, likewise; nil in format 1, which has no such part.
  ///   - remote: What the vault remembers of a store, likewise; nil where it is not shared.
  ///   - slotCount: How many slots follow.
  /// - Throws: ``FormatError/outOfMemory``.
  public init(
    key: borrowing Key, header: Span<UInt8>, ring: Span<UInt8>, devices: [UInt8]? = nil,
    remote: [UInt8]? = nil, slotCount: Int
  ) throws(FormatError) {
    precondition((0...KDFLimits.mostSlots).contains(slotCount), "slots were counted")
    do { hash = try KeyedHash(key: key) } catch { throw .outOfMemory }
    slotsLeft = slotCount
    hash.update(integer: remote == nil ? HeaderDigest.domain : HeaderDigest.sharedDomain)
    HeaderDigest.add(header, to: &hash)
    HeaderDigest.add(ring, to: &hash)
    if let devices { HeaderDigest.add(devices.span, to: &hash) }
    if let remote { HeaderDigest.add(remote.span, to: &hash) }
    hash.update(integer: UInt16(slotCount))
  }

  /// Adds a slot, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - number: The slot's number, 0 to 15.
  ///   - header: Its header, as it stands in the file.
  ///   - key: Its sealed vault key.
  ///   - protected: Its sealed protected half; empty where it holds none.
  public mutating func add(
    slot number: UInt8, header: Span<UInt8>, key: Span<UInt8>, protected: Span<UInt8>
  ) {
    precondition(slotsLeft > 0, "more slots than were announced")
    slotsLeft -= 1
    hash.update(integer: number)
    HeaderDigest.add(header, to: &hash)
    HeaderDigest.add(key, to: &hash)
    HeaderDigest.add(protected, to: &hash)
  }

  /// The digest, once all slots were added.
  public consuming func finalize() -> Digest {
    precondition(slotsLeft == 0, "fewer slots than were announced")
    return hash.finalize()
  }

  private static func add(_ part: Span<UInt8>, to hash: inout KeyedHash) {
    hash.update(integer: UInt32(part.count))
    hash.update(part)
  }
}
