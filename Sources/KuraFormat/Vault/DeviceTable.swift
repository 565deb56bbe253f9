// SPDX-License-Identifier: MIT

public import SecureMemory

/// Says what this copy of the vault knows of another one, or of itself.
public struct DeviceNote: Equatable, Sendable {
  private static let hasKey: UInt8 = 1
  private static let isRemoved: UInt8 = 2

  /// The copy.
  public let device: DeviceID
  /// What its owner calls it, in the form of a ``SlotLabel``.
  public var label: [UInt8]
  /// Its Ed25519 public half, 32 bytes; nil where it is not known.
  public var key: [UInt8]?
  /// When its last head was heard, by this machine's clock, in milliseconds since 1970; 0 for never.
  public var heardTime: UInt64 = 0
  /// The epoch that this head was written in; zero for none.
  public var epoch = DeviceTable.Epoch.zero
  /// Its last head that anybody spoke of who was believed.
  public var heard = HeadPlace.none
  /// Its last head of which all was taken.
  public var taken = HeadPlace.none
  /// The counter up to which all of its changes are here.
  public var complete: UInt64 = 0
  /// The last counter that counts of it, where its owner took it out; else nil.
  public var removedAt: UInt64?
  /// The head of it that is kept as it was; zero for none.
  public var kept = HeadID.zero

  /// A note of a copy of which nothing was heard.
  ///
  /// - Throws: ``FormatError/damaged`` when the label breaks its rule, or a key has another length.
  public init(
    device: DeviceID, label: [UInt8] = [], key: [UInt8]? = nil
  ) throws(FormatError) {
    (self.device, self.label, self.key) = (device, label, key)
    try check()
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    device = try reader.identifier()
    let flags = try reader.integer(UInt8.self)
    guard flags & ~(Self.hasKey | Self.isRemoved) == 0 else { throw .damaged }
    (heardTime, epoch) = (try reader.integer(), try reader.identifier())
    (heard, taken) = (try HeadPlace(&reader), try HeadPlace(&reader))
    complete = try reader.integer()
    let removed = try reader.integer(UInt64.self)
    guard flags & Self.isRemoved != 0 || removed == 0 else { throw .damaged }
    removedAt = flags & Self.isRemoved != 0 ? removed : nil
    kept = try reader.identifier()
    if flags & Self.hasKey != 0 { key = try reader.hash() } else { try reader.zeros(32) }
    label = []
    label.append(span: try reader.counted16(limit: SlotLabel.longest))
    try check()
  }

  private func check() throws(FormatError) {
    let last = RevisionEntry.counters.upperBound
    guard SlotLabel.isCanonical(label.span), key?.count ?? 32 == 32, complete <= last,
      removedAt ?? 0 <= last
    else { throw .damaged }
  }

  func append(to bytes: inout [UInt8]) throws(FormatError) {
    try check()
    bytes.append(device)
    bytes.append((key == nil ? 0 : Self.hasKey) | (removedAt == nil ? 0 : Self.isRemoved))
    bytes.append(integer: heardTime)
    bytes.append(epoch)
    heard.append(to: &bytes)
    taken.append(to: &bytes)
    bytes.append(integer: complete)
    bytes.append(integer: removedAt ?? 0)
    bytes.append(kept)
    bytes.append(contentsOf: key ?? [UInt8](repeating: 0, count: 32))
    bytes.append(integer: UInt16(label.count))
    bytes.append(contentsOf: label)
  }
}

/// Lists the copies of a vault that this one has heard of, itself among them: part 3.
public struct DeviceTable: Equatable, Sendable {
  /// Marks 16 bytes as an epoch's of a remote.
  public enum EpochSubject: Sendable {}
  /// A time between two changes of a remote's key.
  public typealias Epoch = Identifier<EpochSubject>

  /// The most copies there are.
  public static let most = 1024

  private static let layout: UInt8 = 1

  /// Ascending by their ids.
  public private(set) var notes: [DeviceNote] = []

  /// Begins with one copy.
  public init(_ first: DeviceNote) { notes = [first] }

  /// The note of a copy; nil for one that was never heard of.
  public subscript(device: DeviceID) -> DeviceNote? {
    let place = place(of: device)
    return place < notes.endIndex && notes[place].device == device ? notes[place] : nil
  }

  /// Where the note of a copy stands, or would.
  private func place(of device: DeviceID) -> Int { notes.bisected { $0.device < device } }

  /// Adds a note, or replaces that of the same copy.
  ///
  /// - Returns: Whether there was room for it.
  public mutating func set(_ note: DeviceNote) -> Bool {
    let place = place(of: note.device)
    if place < notes.endIndex, notes[place].device == note.device {
      notes[place] = note
      return true
    }
    guard notes.count < DeviceTable.most else { return false }
    notes.insert(note, at: place)
    return true
  }

  /// Reads an opened part.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(plaintext)
    guard try reader.integer(UInt8.self) == DeviceTable.layout else { throw .damaged }
    let count = Int(try reader.integer(UInt16.self))
    guard (1...DeviceTable.most).contains(count) else { throw .damaged }
    for _ in 0..<count {
      let note = try DeviceNote(&reader)
      if let last = notes.last, last.device >= note.device { throw .damaged }
      notes.append(note)
    }
    try reader.finish()
  }

  /// The bytes to seal.
  ///
  /// - Throws: ``FormatError/damaged`` for a note that breaks a rule; ``FormatError/outOfMemory``.
  public func encode() throws(FormatError) -> SecretBytes {
    var bytes = [DeviceTable.layout]
    bytes.append(integer: UInt16(notes.count))
    for note in notes { try note.append(to: &bytes) }
    return try .duplicate(bytes.span)
  }
}
