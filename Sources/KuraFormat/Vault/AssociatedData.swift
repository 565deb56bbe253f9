// SPDX-License-Identifier: MIT

/// Says what a ciphertext is and where it belongs, as its seal binds it.
///
/// The first byte says the kind of record and every kind has one length, so that no two records have
/// the same associated data.
public struct AssociatedData: Sendable {
  private enum Kind: UInt8 {
    case slotKey = 1
    case slotProtected = 2
    case ring = 3
    case root = 4
    case meta = 5
    case body = 6
    case chunk = 7
    case protectedValue = 8
    case logStart = 9
    case logBlock = 10
    case logLocked = 11
    case revisionValue = 12
    case disabledSlot = 13
    case draftKey = 14
    case protectedAttribute = 15
    case journal = 16
    case devices = 17
    case formerHalf = 18
    case remotePart = 21
    case piece = 22
    case ownChanges = 23
    case deviceSeed = 24
    case remoteMemory = 25
    case valuePlace = 26
    case besideProof = 27
  }

  private var storage = InlineArray<80, UInt8>(repeating: 0)
  private var count = 0

  private init(_ kind: Kind) { append(integer: kind.rawValue) }

  /// The bytes, to read.
  public var span: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { storage.span.extracting(first: count) }
  }

  private mutating func append<Integer: FixedWidthInteger>(integer: Integer) {
    for index in 0..<(Integer.bitWidth / 8) {
      storage[count + index] = UInt8(truncatingIfNeeded: integer >> Integer(8 * index))
    }
    count += Integer.bitWidth / 8
  }

  private mutating func append<Subject>(_ identifier: Identifier<Subject>) {
    append(integer: identifier.high.byteSwapped)
    append(integer: identifier.low.byteSwapped)
  }
}

// MARK: - Parts of the vault

extension AssociatedData {
  /// The vault key in a slot.
  public static func slotKey(vault: VaultID, header: SlotHeader) -> AssociatedData {
    slot(.slotKey, vault: vault, header: header)
  }

  /// The protected half in a slot.
  public static func slotProtected(vault: VaultID, header: SlotHeader) -> AssociatedData {
    slot(.slotProtected, vault: vault, header: header)
  }

  private static func slot(_ kind: Kind, vault: VaultID, header: SlotHeader) -> AssociatedData {
    var data = AssociatedData(kind)
    data.append(vault)
    // What stands behind these is bound by the slot's key, which is derived from all of it.
    for byte in header.encoded.prefix(SlotHeader.byteCount) { data.append(integer: byte) }
    return data
  }

  /// A slot that is put out of use.
  public static func disabledSlot(vault: VaultID, slot: SlotID) -> AssociatedData {
    var data = AssociatedData(.disabledSlot)
    data.append(vault)
    data.append(slot)
    return data
  }

  /// The key ring.
  public static func ring(vault: VaultID) -> AssociatedData {
    var data = AssociatedData(.ring)
    data.append(vault)
    return data
  }

  /// The key of what a client holds beyond a lock; in no file.
  public static func draftKey(vault: VaultID) -> AssociatedData {
    var data = AssociatedData(.draftKey)
    data.append(vault)
    return data
  }

  /// The root.
  public static func root(vault: VaultID) -> AssociatedData {
    var data = AssociatedData(.root)
    data.append(vault)
    return data
  }
}

// MARK: - What copies know of each other

extension AssociatedData {
  /// Some of the changes of this copy.
  public static func journal(vault: VaultID, row: UInt64) -> AssociatedData {
    var data = AssociatedData(.journal)
    data.append(vault)
    data.append(integer: row)
    return data
  }

  /// The other copies.
  public static func devices(vault: VaultID) -> AssociatedData {
    var data = AssociatedData(.devices)
    data.append(vault)
    return data
  }

  /// What the vault remembers of the store that it is shared through.
  public static func remoteMemory(vault: VaultID) -> AssociatedData {
    var data = AssociatedData(.remoteMemory)
    data.append(vault)
    return data
  }

  /// In which objects of a store a long value stands.
  public static func valuePlace(vault: VaultID, value: ValueID) -> AssociatedData {
    var data = AssociatedData(.valuePlace)
    data.append(vault)
    data.append(value)
    return data
  }

  /// The secret half of a pair that was replaced.
  ///
  /// - Parameter publicHalf: Of the same pair, 32 bytes.
  public static func formerHalf(vault: VaultID, publicHalf: [UInt8]) -> AssociatedData {
    precondition(publicHalf.count == 32, "a half has 32 bytes")
    var data = AssociatedData(.formerHalf)
    data.append(vault)
    for byte in publicHalf { data.append(integer: byte) }
    return data
  }
}

// MARK: - The access log

extension AssociatedData {
  /// Where a log begins, and to whom is sealed what is noted while the vault is locked.
  static func logStart(vault: VaultID, publicHalf: [UInt8]) -> AssociatedData {
    var data = AssociatedData(.logStart)
    data.append(vault)
    for byte in publicHalf { data.append(integer: byte) }
    return data
  }

  /// Entries of a log.
  static func logBlock(vault: VaultID, count: UInt16) -> AssociatedData {
    var data = AssociatedData(.logBlock)
    data.append(vault)
    data.append(integer: count)
    return data
  }

  /// An entry that was made while the vault was locked.
  static func logLocked(vault: VaultID) -> AssociatedData {
    var data = AssociatedData(.logLocked)
    data.append(vault)
    return data
  }
}

// MARK: - Parts of an item

extension AssociatedData {
  /// An item's name and attributes: bound to the tag, so that a new name needs a new seal.
  public static func meta(vault: VaultID, facts: RowFacts) -> AssociatedData {
    var data = AssociatedData(.meta)
    data.append(vault)
    data.append(facts.tag)
    data.append(rest: facts)
    return data
  }

  /// An item's value: bound to the id and not to the name, so that it survives a new name.
  public static func body(vault: VaultID, facts: RowFacts) -> AssociatedData {
    var data = AssociatedData(.body)
    data.append(vault)
    data.append(rest: facts)
    return data
  }

  /// One chunk of a long value.
  public static func chunk(value: ValueID, number: UInt64, isLast: Bool) -> AssociatedData {
    var data = AssociatedData(.chunk)
    data.append(value)
    data.append(integer: number)
    data.append(integer: UInt8(isLast ? 1 : 0))
    return data
  }

  /// The inner seal of a protected value.
  public static func protectedValue(
    vault: VaultID, item: ItemID, revision: UInt64
  ) -> AssociatedData {
    var data = AssociatedData(.protectedValue)
    data.append(vault)
    data.append(item)
    data.append(integer: revision)
    return data
  }

  /// The inner seal of a protected value that was sealed for a revision by its id.
  public static func protectedValue(
    vault: VaultID, item: ItemID, setBy revision: RevisionID
  ) -> AssociatedData {
    sealed(.revisionValue, vault: vault, item: item, revision)
  }

  /// The seal of one attribute of a protected item.
  public static func protectedAttribute(
    vault: VaultID, item: ItemID, setBy revision: RevisionID
  ) -> AssociatedData {
    sealed(.protectedAttribute, vault: vault, item: item, revision)
  }

  private static func sealed(
    _ kind: Kind, vault: VaultID, item: ItemID, _ revision: RevisionID
  ) -> AssociatedData {
    var data = AssociatedData(kind)
    data.append(vault)
    data.append(item)
    data.append(revision)
    return data
  }

  private mutating func append(rest facts: RowFacts) {
    append(facts.id)
    append(integer: facts.revision)
    append(integer: facts.generation)
    append(integer: facts.protection.rawValue)
    append(integer: facts.kind.rawValue)
  }
}

// MARK: - What stands in a store

extension AssociatedData {
  /// What a device says to the others: a head, with no kind of object, a pack or the cut of an epoch.
  ///
  /// - Parameters:
  ///   - kind: That of the object; nil for a head.
  ///   - vault: The vault.
  ///   - device: Who wrote it.
  ///   - epoch: The one under whose key it is sealed.
  public static func remote(
    _ kind: RemoteObject.Kind?, vault: VaultID, device: DeviceID, epoch: DeviceTable.Epoch
  ) -> AssociatedData {
    var data = beginning(.remotePart, vault, device)
    data.append(epoch)
    data.append(integer: kind?.rawValue ?? 0)
    return data
  }

  /// Chunks of a long value.
  ///
  /// - Parameters:
  ///   - value: Whose chunks they are.
  ///   - first: The number of the first of them.
  ///   - vault: The vault.
  ///   - device: Who wrote them.
  ///   - epoch: The one under whose key they are sealed once more.
  public static func piece(
    of value: ValueID, from first: UInt64, vault: VaultID, device: DeviceID,
    epoch: DeviceTable.Epoch
  ) -> AssociatedData {
    var data = beginning(.piece, vault, device)
    data.append(epoch)
    data.append(value)
    data.append(integer: first)
    return data
  }

  /// What a device says to itself of its own changes.
  ///
  /// - Parameters:
  ///   - after: The counter of the change before the first of them.
  ///   - vault: The vault.
  ///   - device: Whose changes they are.
  public static func ownChanges(
    after: UInt64, vault: VaultID, device: DeviceID
  ) -> AssociatedData {
    var data = beginning(.ownChanges, vault, device)
    data.append(integer: after)
    return data
  }

  /// The secret half of a device's pair, which stands in no vault.
  public static func deviceSeed(vault: VaultID, device: DeviceID) -> AssociatedData {
    beginning(.deviceSeed, vault, device)
  }

  /// The proof key of an epoch beside the one that the vault is in.
  public static func besideProof(vault: VaultID, epoch: DeviceTable.Epoch) -> AssociatedData {
    var data = AssociatedData(.besideProof)
    data.append(vault)
    data.append(epoch)
    return data
  }

  private static func beginning(
    _ kind: Kind, _ vault: VaultID, _ device: DeviceID
  ) -> AssociatedData {
    var data = AssociatedData(kind)
    data.append(vault)
    data.append(device)
    return data
  }
}
