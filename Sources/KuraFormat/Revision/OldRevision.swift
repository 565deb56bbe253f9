// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import SecureMemory

/// Names revisions that were written in format 1, which gave them no ids: alike in all copies of the vault that had
/// them.
enum OldRevision {
  /// `H(none, 16; label ‖ item id ‖ u64 revision ‖ u8 class ‖ u8 kind ‖ meta)`.
  ///
  /// The value is not in it: what is made of a value that is protected later may not stand where the protected
  /// half is not needed.
  static func id(of meta: MetaView, _ facts: RowFacts) throws(FormatError) -> RevisionID {
    var hash = try begin(.oldRevision, facts.id)
    hash.update(integer: facts.revision)
    hash.update(integer: facts.protection.rawValue)
    hash.update(integer: facts.kind.rawValue)
    hash.update(meta.bytes)
    return try finish(hash)
  }

  /// `H(none, 16; label ‖ item id)`.
  static func device(of item: ItemID) throws(FormatError) -> DeviceID {
    try finish(try begin(.oldItem, item))
  }

  private static func begin(_ label: Label, _ item: ItemID) throws(FormatError) -> KeyedHash {
    do {
      var hash = try KeyedHash(keyBytes: Span(), byteCount: identifierByteCount)
      hash.update(label)
      hash.update(item)
      return hash
    } catch { throw .outOfMemory }
  }

  fileprivate static func finish<Subject>(
    _ hash: consuming KeyedHash
  ) throws(FormatError) -> Identifier<Subject> {
    do {
      let digest = try hash.finalizeSecret()
      return Identifier(digest.bytes)
    } catch { throw .outOfMemory }
  }
}

// MARK: - Slots

extension SlotTableSide {
  /// The slots as they stand in a copy where nobody changed them since it was taken over: a side that every copy
  /// with the same slots has.
  ///
  /// - Parameter slots: Those of the kinds that travel, at least one.
  /// - Throws: ``FormatError/outOfMemory``.
  public init(old slots: [(id: SlotID, kind: SlotKind)]) throws(FormatError) {
    let ordered = slots.sorted { $0.id < $1.id }
    var hash: KeyedHash
    do {
      hash = try KeyedHash(keyBytes: Span(), byteCount: identifierByteCount)
      hash.update(.oldSlots)
      for slot in ordered { hash.update(slot.id) }
    } catch { throw .outOfMemory }
    let id: RevisionID = try OldRevision.finish(hash)
    let device = id.bytes
    let entry = RevisionEntry(device: DeviceID(device.span), counter: 1)
    var known = RevisionVector()
    var all: [Slot] = []
    for slot in ordered {
      let made = RevisionEntry(device: try DeviceID.ofOldSlot(slot.id), counter: 1)
      known.include(made)
      all.append(Slot(slot.id, slot.kind, made: made))
    }
    let stamp = RevisionStamp(id: id, depth: 1, entry: entry)
    self.init(Lineage(stamp: stamp, following: known), slots: all)
  }
}

extension SlotTableSide.Slot {
  /// Whether it was made before changes of the slots had names, so that nobody can tell whether a copy without it has
  /// not heard of it yet, or ended it.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func isOld() throws(FormatError) -> Bool { made.device == (try DeviceID.ofOldSlot(id)) }
}

extension DeviceID {
  fileprivate static func ofOldSlot(_ slot: SlotID) throws(FormatError) -> DeviceID {
    do {
      var hash = try KeyedHash(keyBytes: Span(), byteCount: identifierByteCount)
      hash.update(.oldSlot)
      hash.update(slot)
      return try OldRevision.finish(hash)
    } catch let error as FormatError { throw error } catch { throw .outOfMemory }
  }

  /// Stands for the copies in which an item's revisions of format 1 were made.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func ofOldRevisions(of item: ItemID) throws(FormatError) -> DeviceID {
    try OldRevision.device(of: item)
  }
}
