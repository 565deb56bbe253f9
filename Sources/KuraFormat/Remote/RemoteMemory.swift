// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import SecureMemory

/// Holds what a vault remembers of the store that it is shared through, and of its own part there: part 4.
public struct RemoteMemory: Equatable, Sendable {
  /// Says what stands in the store of this copy, with one head of its own.
  public struct Standing: Equatable, Sendable {
    /// The head; none before the first.
    public var place = HeadPlace.none
    /// How many packs there were when all was sealed anew.
    public var packBase: UInt16 = 0
    /// The slots of its header object, ascending by their ids.
    public var slots: [SlotID] = []
    /// The changes of others that stand in its packs.
    public var vouched = CounterRuns()

    /// Nothing.
    public init() {}
  }

  /// Names an epoch beside the vault's own, neither of which follows the other, all of which came here.
  public struct Beside: Equatable, Sendable {
    static let sealedCount = Key.byteCount + Seal.overhead

    /// The epoch.
    public let epoch: DeviceTable.Epoch
    /// Its record, as it stands in the store.
    public let record: [UInt8]
    /// Its proof key, sealed.
    public let proof: [UInt8]

    /// An epoch.
    public init(epoch: DeviceTable.Epoch, record: [UInt8], proof: [UInt8]) {
      (self.epoch, self.record, self.proof) = (epoch, record, proof)
    }
  }

  /// The longest, in bytes, before it is padded.
  public static let longest = 851_968
  /// The most slots of a header object.
  static let mostSlots = 64
  /// The most devices that took another id.
  public static let mostWas = 64

  private static let layout: UInt8 = 1
  private static let rewrite: UInt8 = 1
  private static let walk: UInt8 = 2
  private static let slots: UInt8 = 4
  private static let hasBeside: UInt8 = 8
  private static let old: UInt8 = 16
  private static let names: UInt8 = 32
  private static let round: UInt8 = 64

  /// Whose memory it is: another copy's, as soon as this one has become one of its own.
  public var device: DeviceID
  /// Whether all of one's own has to be sealed anew.
  public var mustRewrite = false
  /// Whether something came otherwise than by the store or by own changes, so that all rows are to be looked at.
  public var mustWalk = false
  /// Whether the slots are those of a header object, and the slot table of who began the epoch has not come yet.
  public var awaitsSlots = false
  /// Whether all that was written in format 1 stands in packs of others.
  public var leavesOld = false
  /// Whether own changes may have left a name to an item that had given way.
  public var mustPlaceNames = false
  /// Whether the next head begins a round: one is wanted, or the last one cannot end as it was begun.
  public var mustBeginRound = false
  /// The record of the epoch, as it stands in the store.
  public var record: [UInt8]
  /// Up to which counter the changes of each copy are in the store under this epoch.
  public var covered = RevisionVector()
  /// The devices that took another id.
  public var was: [HeadReport.Was] = []
  /// What stands in the store with the last own head that arrived.
  public var standing = Standing()
  /// What is to stand there with the head that is being written; nil for none.
  public var pending: Standing?
  /// Epochs that the next one is to bring together with the vault's own, ascending.
  public var beside: [Beside] = []

  /// Nothing is in the store yet.
  public init(device: DeviceID, record: [UInt8]) {
    (self.device, self.record) = (device, record)
  }

  /// Reads an opened part.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    guard plaintext.count <= RemoteMemory.longest else { throw .damaged }
    var reader = ByteReader(plaintext)
    guard try reader.integer(UInt8.self) == RemoteMemory.layout else { throw .damaged }
    device = try reader.identifier()
    let flags = try reader.integer(UInt8.self)
    guard flags < 2 * RemoteMemory.round else { throw .damaged }
    awaitsSlots = flags & RemoteMemory.slots != 0
    leavesOld = flags & RemoteMemory.old != 0
    mustPlaceNames = flags & RemoteMemory.names != 0
    mustBeginRound = flags & RemoteMemory.round != 0
    (mustRewrite, mustWalk) = (
      flags & RemoteMemory.rewrite != 0, flags & RemoteMemory.walk != 0
    )
    let count = try reader.integer(UInt32.self)
    guard count <= RemoteObject.Kind.epochRecord.longest else { throw .damaged }
    record = []
    record.append(span: try reader.take(Int(count)))
    covered = try RevisionVector(&reader)
    was = try reader.list(most: RemoteMemory.mostWas, byteCount: 74) {
      reader throws(FormatError) in try HeadReport.Was(&reader)
    }
    standing = try Standing(&reader)
    let pendingCount = try reader.integer(UInt8.self)
    guard pendingCount <= 1 else { throw .damaged }
    pending = pendingCount == 1 ? try Standing(&reader) : nil
    if flags & RemoteMemory.hasBeside != 0 {
      beside = try RemoteMemory.beside(&reader)
      guard !beside.isEmpty else { throw .damaged }
    }
    try reader.finish()
    try check()
  }

  private static func beside(_ reader: inout ByteReader) throws(FormatError) -> [Beside] {
    let count = Int(try reader.integer(UInt8.self))
    guard count < EpochRecord.mostParents else { throw .damaged }
    var found: [Beside] = []
    for _ in 0..<count {
      let epoch: DeviceTable.Epoch = try reader.identifier()
      let length = try reader.integer(UInt32.self)
      guard length <= RemoteObject.Kind.epochRecord.longest else { throw .damaged }
      var (record, proof): ([UInt8], [UInt8]) = ([], [])
      record.append(span: try reader.take(Int(length)))
      proof.append(span: try reader.take(Beside.sealedCount))
      found.append(Beside(epoch: epoch, record: record, proof: proof))
    }
    return found
  }

  private func check() throws(FormatError) {
    guard ascend(beside, by: { $0.epoch < $1.epoch }),
      beside.allSatisfy({ $0.proof.count == Beside.sealedCount })
    else { throw .damaged }
    guard device != .zero, ascend(was, by: { $0.device < $1.device }),
      pending?.place != HeadPlace.none
    else { throw .damaged }
  }

  /// The bytes to seal.
  ///
  /// - Throws: ``FormatError/damaged`` for what breaks a rule; ``FormatError/valueTooLarge``;
  ///   ``FormatError/outOfMemory``.
  public func encode() throws(FormatError) -> SecretBytes {
    try check()
    guard record.count <= RemoteObject.Kind.epochRecord.longest, !covered.isTooLong,
      was.count <= RemoteMemory.mostWas, beside.count < EpochRecord.mostParents
    else { throw .valueTooLarge }
    var bytes = [RemoteMemory.layout]
    bytes.append(device)
    bytes.append(
      (mustRewrite ? RemoteMemory.rewrite : 0) | (mustWalk ? RemoteMemory.walk : 0)
        | (awaitsSlots ? RemoteMemory.slots : 0) | (beside.isEmpty ? 0 : RemoteMemory.hasBeside)
        | (leavesOld ? RemoteMemory.old : 0) | (mustPlaceNames ? RemoteMemory.names : 0)
        | (mustBeginRound ? RemoteMemory.round : 0))
    bytes.append(integer: UInt32(record.count))
    bytes.append(contentsOf: record)
    covered.append(to: &bytes)
    bytes.append(integer: UInt16(was.count))
    for device in was { device.append(to: &bytes) }
    try standing.append(to: &bytes)
    bytes.append(pending == nil ? 0 : 1)
    if let pending { try pending.append(to: &bytes) }
    if !beside.isEmpty { bytes.append(UInt8(beside.count)) }
    for epoch in beside {
      bytes.append(epoch.epoch)
      bytes.append(integer: UInt32(epoch.record.count))
      bytes.append(contentsOf: epoch.record + epoch.proof)
    }
    guard bytes.count <= RemoteMemory.longest else { throw .valueTooLarge }
    return try .duplicate(bytes.span)
  }
}

extension RemoteMemory.Standing {
  init(_ reader: inout ByteReader) throws(FormatError) {
    (place, packBase) = (try HeadPlace(&reader), try reader.integer())
    let count = Int(try reader.integer(UInt8.self))
    guard count <= RemoteMemory.mostSlots else { throw .damaged }
    for _ in 0..<count { slots.append(try reader.identifier()) }
    guard ascend(slots, by: <) else { throw .damaged }
    vouched = try CounterRuns(&reader)
  }

  fileprivate func append(to bytes: inout [UInt8]) throws(FormatError) {
    guard ascend(slots, by: <) else { throw .damaged }
    guard slots.count <= RemoteMemory.mostSlots else { throw .valueTooLarge }
    place.append(to: &bytes)
    bytes.append(integer: packBase)
    bytes.append(UInt8(slots.count))
    for slot in slots { bytes.append(slot) }
    try vouched.append(to: &bytes)
  }
}
