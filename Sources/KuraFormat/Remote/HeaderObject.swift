// SPDX-License-Identifier: MIT

/// Holds the header of a vault and the slots that travel: with a passcode or recovery key and nothing else a new
/// machine gets the vault key from here.
public struct HeaderObject: Equatable, Sendable {
  /// The most slots.
  public static let mostSlots = 64

  /// The vault's.
  public let header: VaultHeader
  /// Ascending by their ids, each as it stands in its columns.
  public let slots: [WaitingSlot]

  /// A header and slots.
  ///
  /// - Throws: ``FormatError/damaged`` for a slot that is none, or stays where it is; for none, too many or two of
  ///   one id; for a header of format 1.
  public init(_ header: VaultHeader, slots: [WaitingSlot]) throws(FormatError) {
    var known: [(id: SlotID, slot: WaitingSlot)] = []
    for slot in slots { known.append((try HeaderObject.id(of: slot), slot)) }
    known.sort { $0.id < $1.id }
    guard (1...HeaderObject.mostSlots).contains(known.count), ascend(known, by: { $0.id < $1.id })
    else { throw .damaged }
    guard header.format == .second else { throw .damaged }
    self.header = header
    self.slots = known.map(\.slot)
  }

  /// Those of some slots that open the vault elsewhere, the first of each id.
  ///
  /// - Parameter isSparing: Whether only recovery keys are meant, at which nobody can guess.
  public static func travelling(
    _ slots: [WaitingSlot], sparing isSparing: Bool = false
  ) -> [WaitingSlot] {
    var known: Set<SlotID> = []
    return slots.filter { slot in
      guard let id = try? id(of: slot), !isSparing || slot.isOfRecoveryKey else { return false }
      return known.insert(id).inserted
    }
  }

  /// Whether nothing but recovery keys opens the vault by it.
  public var isSparing: Bool { slots.allSatisfy(\.isOfRecoveryKey) }

  /// Whose slots they are, in their order.
  public var ids: [SlotID] { slots.compactMap { try? HeaderObject.id(of: $0) } }

  /// Reads the body of an object.
  ///
  /// - Throws: ``FormatError/damaged``, ``FormatError/newerFormat(_:)``.
  public init(decoding body: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(body)
    let header = try VaultHeader(
      decoding: try reader.take(VaultHeader.byteCount), upTo: .second)
    let count = Int(try reader.integer(UInt8.self))
    guard count <= HeaderObject.mostSlots else { throw .damaged }
    var slots: [WaitingSlot] = []
    for _ in 0..<count { slots.append(try WaitingSlot(&reader)) }
    try reader.finish()
    try self.init(header, slots: slots)
    guard self.slots == slots else { throw .damaged }
  }

  /// The body of the object.
  public var encoded: [UInt8] {
    var bytes = header.encoded
    bytes.append(UInt8(slots.count))
    for slot in slots { slot.append(to: &bytes) }
    return bytes
  }

  private static func id(of slot: WaitingSlot) throws(FormatError) -> SlotID {
    let header = try SlotHeader(decoding: slot.header.span)
    guard header.kind.travels,
      header.kind.hasShape(key: slot.key.count, protected: slot.protected.count)
    else { throw .damaged }
    return header.id
  }
}

extension WaitingSlot {
  fileprivate var isOfRecoveryKey: Bool {
    (try? SlotHeader(decoding: header.span))?.kind == .recoveryKey
  }
}

extension SlotKind {
  /// Whether a slot of this kind opens the vault elsewhere too.
  fileprivate var travels: Bool {
    switch self {
    case .passcode, .recoveryKey, .keyFile, .fido2: true
    case .local, .tpm2, .disabled, .later: false
    }
  }
}
