// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import SecureMemory

/// Holds what the sealed ring says of a key slot, for whoever opened the vault by another one.
public struct SlotNote: Equatable, Sendable {
  /// The longest ``place``, in bytes.
  public static let longestPlace = 1024

  private static let weakCostMeant: UInt8 = 1

  /// The slot.
  public let slot: SlotID
  /// When it was made, in milliseconds since 1970.
  public let created: UInt64
  /// Whether its owner asked for a cost below ``KDFLimits/floor``.
  public let isWeakCostMeant: Bool
  /// What its owner calls it, in the form of a ``SlotLabel``; mostly empty.
  public let label: [UInt8]
  /// The path at which a key file stood when the slot was made; empty where it is not known.
  public let place: [UInt8]

  /// A note.
  ///
  /// - Throws: ``FormatError/damaged`` when the label or the place breaks its rule.
  public init(
    slot: SlotID, created: UInt64, isWeakCostMeant: Bool = false, label: [UInt8] = [],
    place: [UInt8] = []
  ) throws(FormatError) {
    guard SlotLabel.isCanonical(label.span), place.count <= SlotNote.longestPlace,
      !place.contains(0)
    else { throw .damaged }
    self.slot = slot
    self.created = created
    self.isWeakCostMeant = isWeakCostMeant
    self.label = label
    self.place = place
  }

  /// The same without where a key file stood.
  fileprivate var withoutPlace: SlotNote {
    SlotNote(slot, created, isWeakCostMeant, label)
  }

  private init(
    _ slot: SlotID, _ created: UInt64, _ isWeakCostMeant: Bool, _ label: [UInt8]
  ) {
    (self.slot, self.created, self.isWeakCostMeant) = (slot, created, isWeakCostMeant)
    (self.label, place) = (label, [])
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    let slot: SlotID = try reader.identifier()
    let created = try reader.integer(UInt64.self)
    let flags = try reader.integer(UInt8.self)
    guard flags & ~SlotNote.weakCostMeant == 0 else { throw .damaged }
    var (label, place): ([UInt8], [UInt8]) = ([], [])
    label.append(span: try reader.counted16(limit: SlotLabel.longest))
    place.append(span: try reader.counted16(limit: SlotNote.longestPlace))
    try self.init(
      slot: slot, created: created, isWeakCostMeant: flags & SlotNote.weakCostMeant != 0,
      label: label, place: place)
  }

  func append(to buffer: inout SecretBuffer) throws(SecureMemoryError) {
    try buffer.append(slot)
    try buffer.append(integer: created)
    try buffer.append(isWeakCostMeant ? SlotNote.weakCostMeant : 0)
    try buffer.append(integer: UInt16(label.count))
    try buffer.append(label.span)
    try buffer.append(integer: UInt16(place.count))
    try buffer.append(place.span)
  }
}

/// Keeps the notes of a vault's slots, ascending by slot id.
public struct SlotNotes: Equatable, Sendable {
  /// All of them.
  public private(set) var all: [SlotNote] = []

  /// None.
  public init() {}

  /// The note of a slot; nil for a slot that a writer without notes made.
  public subscript(slot: SlotID) -> SlotNote? { all.first { $0.slot == slot } }

  /// Adds a note, or replaces the one of the same slot.
  public mutating func set(_ note: SlotNote) {
    all.removeAll { $0.slot == note.slot }
    all.insert(note, at: all.firstIndex { $0.slot > note.slot } ?? all.endIndex)
  }

  /// What of it means something on another machine, of some slots.
  ///
  /// - Parameter slots: Those slots.
  public func travelling(of slots: Set<SlotID>) -> SlotNotes {
    var notes = self
    notes.all = all.filter { slots.contains($0.slot) }.map(\.withoutPlace)
    return notes
  }

  /// Takes notes of slots of which nothing is noted here, or nothing about when they were made.
  ///
  /// - Parameters:
  ///   - others: Those notes.
  ///   - slots: The slots that there are here.
  public mutating func fill(from others: SlotNotes, of slots: Set<SlotID>) {
    for note in others.all where slots.contains(note.slot) && (self[note.slot]?.created ?? 0) == 0 {
      set(note)
    }
  }

  /// Drops the notes of slots that are no more.
  ///
  /// - Parameter slots: Those there are.
  public mutating func keep(only slots: [SlotID]) { all.removeAll { !slots.contains($0.slot) } }

  init(_ reader: inout ByteReader, atLeast least: Int) throws(FormatError) {
    let count = Int(try reader.integer(UInt8.self))
    guard (least...KDFLimits.mostSlots).contains(count) else { throw .damaged }
    for _ in 0..<count {
      let note = try SlotNote(&reader)
      guard all.last.map({ $0.slot < note.slot }) ?? true else { throw .damaged }
      all.append(note)
    }
  }

  func append(to buffer: inout SecretBuffer) throws(SecureMemoryError) {
    try buffer.append(UInt8(all.count))
    for note in all { try note.append(to: &buffer) }
  }
}

/// Prepares what an owner calls a slot: UTF-8 of at most 64 bytes in normal form C, without control characters.
/// No secret.
public enum SlotLabel {
  /// The longest label, in bytes.
  public static let longest = SlotPayload.longestLabel

  /// Prepares a label as it was typed.
  ///
  /// - Throws: ``FormatError/labelInvalid(_:)``, ``FormatError/outOfMemory``.
  public static func prepare(_ typed: Span<UInt8>) throws(FormatError) -> [UInt8] {
    do {
      let normal = try Text.normalize(typed, limit: longest)
      var label: [UInt8] = []
      label.append(span: normal.bytes)
      return label
    } catch {
      switch error {
      case .rule(let rule): throw .labelInvalid(rule)
      case .outOfMemory: throw .outOfMemory
      }
    }
  }

  static func isCanonical(_ text: Span<UInt8>) -> Bool {
    text.isEmpty || Text.isCanonical(text, limit: longest)
  }
}
