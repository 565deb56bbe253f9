// SPDX-License-Identifier: MIT

/// Says what a device has, what it has seen of others and what it is going to delete: the sealed part of a head.
public struct HeadReport: Equatable, Sendable {
  /// Names a pack, with the head that it was new with.
  public struct Pack: Equatable, Sendable {
    let hash: [UInt8]
    let length: UInt32
    let number: UInt64
  }

  /// Says how far the writer has come with another device.
  public struct Seen: Equatable, Sendable {
    let device: DeviceID
    let heard: HeadPlace
    let taken: HeadPlace
    let key: [UInt8]
  }

  /// Names an object, and the head that first said that it goes.
  public struct Condemned: Equatable, Sendable {
    let hash: [UInt8]
    let number: UInt64
  }

  /// Names a head of a device that was put aside as an object.
  public struct Evidence: Equatable, Sendable {
    let device: DeviceID
    let hash: [UInt8]
  }

  /// Tells of a device that took another id.
  public struct Was: Equatable, Sendable {
    let device: DeviceID
    let former: DeviceID
    let fork: UInt64
    let common: HeadPlace
    let void: [HeadPlace]
  }

  private static let longestPack = 4_194_304
  private static let mostDevices = 256

  let count: UInt64
  let time: UInt64
  let fingerprint: [UInt8]
  let label: [UInt8]
  let packs: [Pack]
  let seen: [Seen]
  let covered: RevisionVector
  let condemned: [Condemned]
  let evidence: [Evidence]
  let was: [Was]
}

// MARK: - Reading

extension HeadReport {
  /// Reads an opened part.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(plaintext)
    (count, time, fingerprint) = (
      try reader.integer(), try reader.integer(), try reader.hash()
    )
    var label: [UInt8] = []
    label.append(span: try reader.take(Int(try reader.integer(UInt8.self))))
    guard SlotLabel.isCanonical(label.span), count <= RevisionEntry.counters.upperBound
    else { throw .damaged }
    self.label = label
    packs = try HeadReport.packs(&reader)
    seen = try reader.list(most: HeadReport.mostDevices, byteCount: 96) {
      reader throws(FormatError) in
      Seen(
        device: try reader.identifier(), heard: try HeadPlace(&reader),
        taken: try HeadPlace(&reader), key: try reader.hash())
    }
    covered = try RevisionVector(&reader)
    condemned = try reader.list(most: 2_048, byteCount: 40) { reader throws(FormatError) in
      Condemned(hash: try reader.hash(), number: try HeadReport.number(&reader))
    }
    evidence = try reader.list(most: HeadReport.mostDevices, byteCount: 48) {
      reader throws(FormatError) in
      Evidence(device: try reader.identifier(), hash: try reader.hash())
    }
    was = try reader.list(most: 64, byteCount: 66) { reader throws(FormatError) in
      try Was(&reader)
    }
    try reader.finish()
    guard covered.entries.count <= HeadReport.mostDevices,
      ascend(seen, by: { $0.device < $1.device }),
      ascend(condemned, by: { $0.hash.lexicographicallyPrecedes($1.hash) }),
      ascend(evidence, by: { $0.device < $1.device }), ascend(was, by: { $0.device < $1.device })
    else { throw .damaged }
  }

  private static func packs(_ reader: inout ByteReader) throws(FormatError) -> [Pack] {
    let packs = try reader.list(most: 1_024, byteCount: 44) { reader throws(FormatError) in
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
    (fork, common) = (try reader.integer(), try HeadPlace(&reader))
    void = try reader.list(most: 4_096, byteCount: 24) { reader throws(FormatError) in
      try HeadPlace(&reader)
    }
    let first = common.number
    guard fork <= RevisionEntry.counters.upperBound, void.allSatisfy({ $0.number > first }),
      ascend(void, by: { $0.number < $1.number })
    else { throw .damaged }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(device)
    bytes.append(former)
    bytes.append(integer: fork)
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
