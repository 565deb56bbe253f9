// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Keeps one change of the slot table: which slots it left, and which change made each.
public struct SlotTableSide: Equatable, Sendable {
  /// Names a slot, and the change that made it.
  public struct Slot: Equatable, Sendable {
    /// The slot.
    public let id: SlotID
    /// What opens it: a passcode, a recovery key, a key file or a security key.
    public let kind: SlotKind
    /// The change that made it.
    public let made: RevisionEntry

    /// A slot of a side.
    public init(_ id: SlotID, _ kind: SlotKind, made: RevisionEntry) {
      self.id = id
      self.kind = kind
      self.made = made
    }
  }

  /// The most slots of a side.
  public static let mostSlots = 64
  private static let kinds: [SlotKind] = [.passcode, .recoveryKey, .keyFile, .fido2]

  /// Which change it was.
  public let lineage: Lineage
  /// Ascending by their ids.
  public let slots: [Slot]

  /// - Parameters:
  ///   - lineage: Which change it was.
  ///   - slots: 1 to ``mostSlots`` of the kinds that travel, in any order, none twice.
  public init(_ lineage: Lineage, slots: [Slot]) {
    precondition((1...SlotTableSide.mostSlots).contains(slots.count), "slots were counted")
    precondition(slots.allSatisfy { SlotTableSide.kinds.contains($0.kind) }, "it stays here")
    self.lineage = lineage
    self.slots = slots.sorted { $0.id < $1.id }
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    lineage = try Lineage(&reader)
    let count = Int(try reader.integer(UInt8.self))
    guard (1...SlotTableSide.mostSlots).contains(count) else { throw .damaged }
    var slots: [Slot] = []
    for _ in 0..<count {
      let id: SlotID = try reader.identifier()
      guard let kind = SlotKind(rawValue: try reader.integer()),
        SlotTableSide.kinds.contains(kind)
      else { throw .damaged }
      let device: DeviceID = try reader.identifier()
      let counter = try reader.integer(UInt64.self)
      guard RevisionEntry.counters.contains(counter) else { throw .damaged }
      if let last = slots.last, last.id >= id { throw .damaged }
      slots.append(Slot(id, kind, made: RevisionEntry(device: device, counter: counter)))
    }
    self.slots = slots
  }

  func append(to bytes: inout [UInt8]) {
    lineage.append(to: &bytes)
    bytes.append(UInt8(slots.count))
    for slot in slots {
      bytes.append(slot.id)
      bytes.append(slot.kind.rawValue)
      bytes.append(slot.made.device)
      bytes.append(integer: slot.made.counter)
    }
  }
}

/// Keeps the changes of one setting that nothing followed.
public struct SettingSides: Equatable, Sendable {
  /// Holds one change of a setting.
  public struct Side: Equatable, Sendable {
    /// Which change it was.
    public let lineage: Lineage
    /// What it set.
    public let value: UInt64

    /// A change.
    public init(_ lineage: Lineage, value: UInt64) {
      self.lineage = lineage
      self.value = value
    }
  }

  /// The setting, by its number; that of a later release too.
  public let key: UInt8
  /// Ascending by the ids of their revisions.
  public let sides: [Side]

  /// - Parameters:
  ///   - key: The setting.
  ///   - sides: 1 to ``CopyLedger/mostSides``, in any order, none twice.
  public init(_ key: UInt8, sides: [Side]) {
    precondition((1...CopyLedger.mostSides).contains(sides.count), "sides were counted")
    self.key = key
    self.sides = sides.sorted { $0.lineage.stamp.id < $1.lineage.stamp.id }
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    key = try reader.integer()
    let count = Int(try reader.integer(UInt8.self))
    guard count >= 1 else { throw .damaged }
    var sides: [Side] = []
    for _ in 0..<count {
      let side = Side(try Lineage(&reader), value: try reader.integer())
      if let last = sides.last, last.lineage.stamp.id >= side.lineage.stamp.id { throw .damaged }
      sides.append(side)
    }
    self.sides = sides
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(key)
    bytes.append(UInt8(sides.count))
    for side in sides {
      side.lineage.append(to: &bytes)
      bytes.append(integer: side.value)
    }
  }
}

/// Keeps a slot that came with another copy and found no room.
public struct WaitingSlot: Equatable, Sendable {
  /// The most of them.
  public static let most = 64

  /// Its columns, as they would stand in the file.
  public let header: [UInt8]
  /// What is sealed in it.
  public let key: [UInt8]
  /// The protected half that is.
  public let protected: [UInt8]

  /// A slot that waits.
  public init(header: [UInt8], key: [UInt8], protected: [UInt8]) {
    self.header = header
    self.key = key
    self.protected = protected
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    var columns: [[UInt8]] = []
    for _ in 0..<3 {
      var column: [UInt8] = []
      column.append(span: try reader.counted16(limit: Int(UInt16.max)))
      columns.append(column)
    }
    guard columns[0].count >= SlotHeader.byteCount else { throw .damaged }
    self.init(header: columns[0], key: columns[1], protected: columns[2])
  }

  func append(to bytes: inout [UInt8]) {
    for column in [header, key, protected] {
      bytes.append(integer: UInt16(column.count))
      bytes.append(contentsOf: column)
    }
  }
}

/// Keeps the secret half of a protected pair that a rekey replaced, sealed to the pair that took its place.
public struct FormerHalf: Equatable, Sendable {
  /// The most of them.
  public static let most = 16
  private static let sealedCount = ProtectedPair.byteCount + Seal.overhead

  /// The public half that it belongs to, 32 bytes.
  public let publicHalf: [UInt8]
  /// The public half of the pair that was made to seal it, 32 bytes.
  public let ephemeral: [UInt8]
  /// The sealed secret half.
  public let sealed: [UInt8]

  init(_ reader: inout ByteReader) throws(FormatError) {
    var (half, once, rest): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
    half.append(span: try reader.take(ProtectedPair.byteCount))
    once.append(span: try reader.take(ProtectedPair.byteCount))
    rest.append(span: try reader.take(FormerHalf.sealedCount))
    (publicHalf, ephemeral, sealed) = (half, once, rest)
  }

  func append(to bytes: inout [UInt8]) { bytes += publicHalf + ephemeral + sealed }
}
