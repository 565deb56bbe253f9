// SPDX-License-Identifier: MIT

/// Says what an epoch takes over from those before it: the sealed part of its record.
public struct EpochCut: Equatable, Sendable {
  /// Names a device that was removed, and how far its changes count.
  public struct Removed: Equatable, Sendable {
    /// The device.
    public let device: DeviceID
    /// Its last change that counts.
    public let counter: UInt64

    /// A device that was removed.
    public init(device: DeviceID, counter: UInt64) {
      (self.device, self.counter) = (device, counter)
    }
  }

  /// Says of a device which head of it the maker had taken last, and up to which counter all of its changes.
  public struct Taken: Equatable, Sendable {
    /// The device.
    public let device: DeviceID
    /// The head.
    public let head: HeadPlace
    /// The change.
    public let counter: UInt64

    /// How far a device was taken.
    public init(device: DeviceID, head: HeadPlace, counter: UInt64) {
      (self.device, self.head, self.counter) = (device, head, counter)
    }
  }

  private static let mostDevices = 256

  /// Ascending by device.
  public let removed: [Removed]
  /// Ascending by device.
  public let taken: [Taken]
  /// The number of the maker's first head in the epoch.
  public let first: UInt64
  /// Whether the slots of recovery keys alone get into the store, in this epoch and in each that follows it.
  public let isSparing: Bool

  /// Takes nothing over, as the first epoch does.
  public init(first: UInt64, sparing isSparing: Bool = false) {
    self.init(removed: [], taken: [], first: first, sparing: isSparing)
  }

  /// - Parameters:
  ///   - removed: In any order, none twice.
  ///   - taken: Likewise.
  ///   - first: The number of the maker's first head in the epoch.
  ///   - isSparing: Whether the slots of recovery keys alone get into the store.
  public init(
    removed: [Removed], taken: [Taken], first: UInt64, sparing isSparing: Bool = false
  ) {
    self.removed = removed.sorted { $0.device < $1.device }
    self.taken = taken.sorted { $0.device < $1.device }
    self.first = first
    self.isSparing = isSparing
  }

  /// Reads an opened cut.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(plaintext)
    removed = try reader.list(most: EpochCut.mostDevices, byteCount: 24) {
      reader throws(FormatError) in
      Removed(device: try reader.identifier(), counter: try reader.counter())
    }
    taken = try reader.list(most: EpochCut.mostDevices, byteCount: 48) {
      reader throws(FormatError) in
      Taken(
        device: try reader.identifier(), head: try HeadPlace(&reader),
        counter: try reader.counter())
    }
    first = try reader.counter()
    // One way to write each: what is left out is a store that gets all slots.
    isSparing = reader.remaining > 0
    if isSparing { guard try reader.integer(UInt8.self) == 1 else { throw .damaged } }
    try reader.finish()
    guard first > 0, ascend(removed, by: { $0.device < $1.device }),
      ascend(taken, by: { $0.device < $1.device })
    else { throw .damaged }
  }

  /// The bytes to seal.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: UInt16(removed.count))
    for device in removed {
      bytes.append(device.device)
      bytes.append(integer: device.counter)
    }
    bytes.append(integer: UInt16(taken.count))
    for device in taken {
      bytes.append(device.device)
      device.head.append(to: &bytes)
      bytes.append(integer: device.counter)
    }
    bytes.append(integer: first)
    if isSparing { bytes.append(1 as UInt8) }
    return bytes
  }
}

extension ByteReader {
  /// A number of changes or heads, 0 for none.
  fileprivate mutating func counter() throws(FormatError) -> UInt64 {
    let counter = try integer(UInt64.self)
    guard counter <= RevisionEntry.counters.upperBound else { throw .damaged }
    return counter
  }
}
