// SPDX-License-Identifier: MIT

/// Counts a change where it was made: the n-th of one copy of a vault. No two changes ever have the same.
public struct RevisionEntry: Hashable, Sendable {
  /// The bytes of one, encoded.
  static let byteCount = identifierByteCount + 8
  /// What a counter can be; an integer of SQLite's, which has a sign.
  public static let counters: ClosedRange<UInt64> = 1...UInt64(Int64.max)

  /// The copy in which the change was made.
  public let device: DeviceID
  /// How many changes that copy had seen with it.
  public let counter: UInt64

  /// - Parameters:
  ///   - device: The copy in which the change was made.
  ///   - counter: One of ``counters``.
  public init(device: DeviceID, counter: UInt64) {
    precondition(RevisionEntry.counters.contains(counter), "changes are counted from 1")
    self.device = device
    self.counter = counter
  }
}

/// Says what a revision knows of: of each copy of the vault all changes up to one.
public struct RevisionVector: Hashable, Sendable {
  /// The most copies that one can speak of.
  public static let mostEntries = 512

  /// The last change known of each copy, ascending by its id.
  public private(set) var entries: [RevisionEntry] = []

  /// Knows of nothing.
  public init() {}

  /// Gathers entries in any order; of each copy the last one counts.
  public init(_ entries: some Sequence<RevisionEntry>) {
    for entry in entries { include(entry) }
  }

  /// Whether it has too many copies in it to be stored.
  public var isTooLong: Bool { entries.count > RevisionVector.mostEntries }

  /// How many changes of a copy are known; 0 for none.
  public func counter(of device: DeviceID) -> UInt64 {
    let index = place(of: device)
    return index < entries.count && entries[index].device == device ? entries[index].counter : 0
  }

  /// Whether a change is known.
  public func covers(_ entry: RevisionEntry) -> Bool {
    counter(of: entry.device) >= entry.counter
  }

  /// Whether all is known that another one knows.
  public func covers(_ other: RevisionVector) -> Bool { other.entries.allSatisfy(covers) }

  /// Learns of a change, and so of all before it in the same copy.
  public mutating func include(_ entry: RevisionEntry) {
    let index = place(of: entry.device)
    guard index < entries.count, entries[index].device == entry.device else {
      entries.insert(entry, at: index)
      return
    }
    if entries[index].counter < entry.counter { entries[index] = entry }
  }

  /// Learns of all that another one knows.
  public mutating func formUnion(_ other: RevisionVector) {
    for entry in other.entries { include(entry) }
  }

  /// Where a copy's entry stands, or would.
  func place(of device: DeviceID) -> Int { entries.bisected { $0.device < device } }
}

// MARK: - Encoding

extension RevisionVector {
  /// Reads `u16 count ‖ count × (device ‖ u64 counter)`, ascending.
  ///
  /// - Throws: ``FormatError/damaged``.
  init(_ reader: inout ByteReader) throws(FormatError) {
    let count = Int(try reader.integer(UInt16.self))
    // Before anything is allocated by the number.
    guard count <= RevisionVector.mostEntries, count * RevisionEntry.byteCount <= reader.remaining
    else { throw .damaged }
    entries.reserveCapacity(count)
    for _ in 0..<count {
      let device: DeviceID = try reader.identifier()
      let counter = try reader.integer(UInt64.self)
      guard RevisionEntry.counters.contains(counter) else { throw .damaged }
      if let last = entries.last, last.device >= device { throw .damaged }
      entries.append(RevisionEntry(device: device, counter: counter))
    }
  }

  /// Appends the encoded vector.
  func append(to bytes: inout [UInt8]) {
    precondition(!isTooLong, "a vector was counted before it is stored")
    bytes.append(integer: UInt16(entries.count))
    for entry in entries {
      bytes.append(entry.device)
      bytes.append(integer: entry.counter)
    }
  }
}
