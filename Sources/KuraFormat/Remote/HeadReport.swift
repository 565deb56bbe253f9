// SPDX-License-Identifier: MIT

/// Says what a device has, what it has seen of others and what it is going to delete: the sealed part of a head.
public struct HeadReport: Equatable, Sendable {
  /// Names a pack, with the head that it was new with.
  public struct Pack: Equatable, Sendable {
    /// The object's hash.
    public let hash: [UInt8]
    /// How many bytes it has.
    public let length: UInt32
    /// The number of the head.
    public let number: UInt64

    /// A pack.
    public init(hash: [UInt8], length: UInt32, number: UInt64) {
      (self.hash, self.length, self.number) = (hash, length, number)
    }
  }

  /// Says how far the writer has come with another device.
  public struct Seen: Equatable, Sendable {
    /// The other device.
    public let device: DeviceID
    /// Its last head that the writer believes there was.
    public let heard: HeadPlace
    /// Its last head that the writer took, all of it.
    public let taken: HeadPlace
    /// What its heads are signed with.
    public let key: [UInt8]

    /// What is known of a device.
    public init(device: DeviceID, heard: HeadPlace, taken: HeadPlace, key: [UInt8]) {
      (self.device, self.heard, self.taken, self.key) = (device, heard, taken, key)
    }
  }

  /// Names an object, and the head that first said that it goes.
  public struct Condemned: Equatable, Sendable {
    /// The object's hash.
    public let hash: [UInt8]
    /// The number of the head.
    public let number: UInt64

    /// An object that goes.
    public init(hash: [UInt8], number: UInt64) { (self.hash, self.number) = (hash, number) }
  }

  /// Names a head of a device that was put aside as an object.
  public struct Evidence: Equatable, Sendable {
    /// Whose head it is.
    public let device: DeviceID
    /// The object's hash.
    public let hash: [UInt8]

    /// A head.
    public init(device: DeviceID, hash: [UInt8]) { (self.device, self.hash) = (device, hash) }
  }

  /// Tells of a device that took another id.
  public struct Was: Equatable, Sendable {
    /// The id that it took.
    public let device: DeviceID
    /// The id that it had.
    public let former: DeviceID
    /// The last change that both machines with that id had made.
    public let fork: UInt64
    /// The last head that both had.
    public let common: HeadPlace
    /// The heads that it wrote beyond that, the last of them.
    public private(set) var void: [HeadPlace]
    /// The last change that it made under the former id; the fork where it made none beyond that.
    public private(set) var last: UInt64

    /// The change beyond which those under the former id are its own: none is where it made none.
    public var bound: UInt64 { last > fork ? fork : .max }

    /// The most heads that one names.
    public static let mostVoid = 4_096

    /// Tells of a device that took another id; of too many heads the last are named.
    public init(
      device: DeviceID, former: DeviceID, fork: UInt64, last: UInt64, common: HeadPlace,
      void: [HeadPlace]
    ) {
      (self.device, self.former, self.common) = (device, former, common)
      (self.fork, self.last) = (fork, max(fork, last))
      self.void = void.sorted().suffix(Was.mostVoid)
    }

    /// Learns of more such heads: two machines may have come to the same id from one line.
    public mutating func formUnion(_ other: Was) {
      void = Set(void + other.void.filter { $0.number > common.number }).sorted()
        .suffix(Was.mostVoid)
      last = max(last, other.last)
    }
  }

  /// The most packs that one names.
  public static let mostPacks = 1_024
  /// The most objects that one condemns.
  public static let mostCondemned = 2_048
  /// The most devices that one speaks of.
  public static let mostDevices = 256

  private static let longestPack = 4_194_304

  /// All changes of the device up to it are in the store.
  public var count: UInt64
  /// When it was written, by the device's own clock.
  public var time: UInt64 = 0
  /// The number of the own head with which a round was last begun; 0 before the first.
  public var round: UInt64 = 0
  /// What all items come to, 32 bytes; zeros where that was not looked at.
  public var fingerprint = [UInt8](repeating: 0, count: 32)
  /// What the owner calls the device.
  public var label: [UInt8] = []
  /// In the order in which they were written.
  public var packs: [Pack] = []
  /// Ascending by device.
  public var seen: [Seen] = []
  /// Up to which change of each device all is in the store.
  public var covered = RevisionVector()
  /// Of each other device the last of its rounds since which all packs were sealed anew, by the number of its head.
  public var rounds = RevisionVector()
  /// Ascending by hash.
  public var condemned: [Condemned] = []
  /// Ascending by device.
  public var evidence: [Evidence] = []
  /// Ascending by device.
  public var was: [Was] = []

  /// Says that all changes up to one are in the store, and nothing else.
  public init(count: UInt64) { self.count = count }
}

// MARK: - Reading

extension HeadReport {
  /// Reads an opened part.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(plaintext)
    (count, time, round) = (
      try reader.integer(), try reader.integer(), try reader.integer()
    )
    fingerprint = try reader.hash()
    var label: [UInt8] = []
    label.append(span: try reader.take(Int(try reader.integer(UInt8.self))))
    let most = RevisionEntry.counters.upperBound
    guard SlotLabel.isCanonical(label.span), count <= most, round <= most else { throw .damaged }
    self.label = label
    packs = try HeadReport.packs(&reader)
    seen = try reader.list(most: HeadReport.mostDevices, byteCount: 96) {
      reader throws(FormatError) in
      Seen(
        device: try reader.identifier(), heard: try HeadPlace(&reader),
        taken: try HeadPlace(&reader), key: try reader.hash())
    }
    covered = try RevisionVector(&reader)
    rounds = try RevisionVector(&reader)
    condemned = try reader.list(most: HeadReport.mostCondemned, byteCount: 40) {
      reader throws(FormatError) in
      Condemned(hash: try reader.hash(), number: try HeadReport.number(&reader))
    }
    evidence = try reader.list(most: HeadReport.mostDevices, byteCount: 48) {
      reader throws(FormatError) in
      Evidence(device: try reader.identifier(), hash: try reader.hash())
    }
    was = try reader.list(most: 64, byteCount: 74) { reader throws(FormatError) in
      try Was(&reader)
    }
    try reader.finish()
    guard max(covered.entries.count, rounds.entries.count) <= HeadReport.mostDevices,
      ascend(seen, by: { $0.device < $1.device }),
      ascend(condemned, by: { $0.hash.lexicographicallyPrecedes($1.hash) }),
      ascend(evidence, by: { $0.device < $1.device }), ascend(was, by: { $0.device < $1.device })
    else { throw .damaged }
  }

  private static func packs(_ reader: inout ByteReader) throws(FormatError) -> [Pack] {
    let packs = try reader.list(most: mostPacks, byteCount: 44) { reader throws(FormatError) in
      Pack(
        hash: try reader.hash(), length: try reader.integer(), number: try number(&reader))
    }
    guard !zip(packs, packs.dropFirst()).contains(where: { $0.number > $1.number }),
      packs.allSatisfy({ $0.length <= longestPack })
    else { throw .damaged }
    return packs
  }

  private static func number(_ reader: inout ByteReader) throws(FormatError) -> UInt64 {
    let number = try reader.integer(UInt64.self)
    guard RevisionEntry.counters.contains(number) else { throw .damaged }
    return number
  }
}

extension HeadReport.Was {
  init(_ reader: inout ByteReader) throws(FormatError) {
    (device, former) = (try reader.identifier(), try reader.identifier())
    (fork, last) = (try reader.integer(), try reader.integer())
    common = try HeadPlace(&reader)
    void = try reader.list(most: HeadReport.Was.mostVoid, byteCount: 24) {
      reader throws(FormatError) in
      try HeadPlace(&reader)
    }
    let first = common.number
    guard fork <= last, last <= RevisionEntry.counters.upperBound,
      void.allSatisfy({ $0.number > first }), ascend(void, by: <)
    else { throw .damaged }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(device)
    bytes.append(former)
    bytes.append(integer: fork)
    bytes.append(integer: last)
    common.append(to: &bytes)
    bytes.append(integer: UInt16(void.count))
    for place in void { place.append(to: &bytes) }
  }
}

// MARK: - Writing

extension HeadReport {
  /// The bytes to seal.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: count)
    bytes.append(integer: time)
    bytes.append(integer: round)
    bytes.append(contentsOf: fingerprint)
    bytes.append(UInt8(label.count))
    bytes.append(contentsOf: label)
    bytes.append(integer: UInt16(packs.count))
    for pack in packs {
      bytes.append(contentsOf: pack.hash)
      bytes.append(integer: pack.length)
      bytes.append(integer: pack.number)
    }
    bytes.append(integer: UInt16(seen.count))
    for other in seen {
      bytes.append(other.device)
      other.heard.append(to: &bytes)
      other.taken.append(to: &bytes)
      bytes.append(contentsOf: other.key)
    }
    covered.append(to: &bytes)
    rounds.append(to: &bytes)
    bytes.append(integer: UInt16(condemned.count))
    for object in condemned {
      bytes.append(contentsOf: object.hash)
      bytes.append(integer: object.number)
    }
    bytes.append(integer: UInt16(evidence.count))
    for head in evidence {
      bytes.append(head.device)
      bytes.append(contentsOf: head.hash)
    }
    bytes.append(integer: UInt16(was.count))
    for device in was { device.append(to: &bytes) }
    return bytes
  }
}
