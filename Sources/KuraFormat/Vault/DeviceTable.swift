// SPDX-License-Identifier: MIT

public import SecureMemory

/// Says what this copy of the vault knows of another one, or of itself.
public struct DeviceNote: Equatable, Sendable {
  /// Remembers the last that was heard of a copy.
  public struct Head: Equatable, Sendable {
    /// Its counter.
    public let counter: UInt64
    /// When it was heard, by this machine's clock, in milliseconds since 1970.
    public let heard: UInt64
    /// The epoch that it was written in, 16 bytes.
    public let epoch: DeviceTable.Epoch
    /// The hash of its bytes, 32 bytes.
    public let hash: [UInt8]

    /// The last that was heard of a copy.
    public init(counter: UInt64, heard: UInt64, epoch: DeviceTable.Epoch, hash: [UInt8]) {
      precondition(hash.count == 32, "a hash has 32 bytes")
      self.counter = counter
      self.heard = heard
      self.epoch = epoch
      self.hash = hash
    }
  }

  private static let hasKey: UInt8 = 1
  private static let hasHead: UInt8 = 2
  private static let isRemoved: UInt8 = 4

  /// The copy.
  public let device: DeviceID
  /// Its Ed25519 public half, 32 bytes; nil where it is not known.
  public let key: [UInt8]?
  /// The last that was heard of it; nil for nothing yet.
  public let head: Head?
  /// Whether its owner took it out.
  public let isRemoved: Bool
  /// What its owner calls it, in the form of a ``SlotLabel``.
  public let label: [UInt8]

  /// A note.
  ///
  /// - Throws: ``FormatError/damaged`` when the label breaks its rule, or a key has another length.
  public init(
    device: DeviceID, key: [UInt8]? = nil, head: Head? = nil, isRemoved: Bool = false,
    label: [UInt8] = []
  ) throws(FormatError) {
    guard SlotLabel.isCanonical(label.span), key?.count ?? 32 == 32 else { throw .damaged }
    self.device = device
    self.key = key
    self.head = head
    self.isRemoved = isRemoved
    self.label = label
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    let device: DeviceID = try reader.identifier()
    let flags = try reader.integer(UInt8.self)
    guard flags & ~(Self.hasKey | Self.hasHead | Self.isRemoved) == 0 else { throw .damaged }
    let head = try DeviceNote.head(&reader, isKnown: flags & Self.hasHead != 0)
    var (key, label): ([UInt8], [UInt8]) = ([], [])
    if flags & Self.hasKey != 0 {
      key.append(span: try reader.take(32))
    } else {
      try reader.zeros(32)
    }
    label.append(span: try reader.counted16(limit: SlotLabel.longest))
    try self.init(
      device: device, key: key.isEmpty ? nil : key, head: head,
      isRemoved: flags & Self.isRemoved != 0, label: label)
  }

  private static func head(
    _ reader: inout ByteReader, isKnown: Bool
  ) throws(FormatError) -> Head? {
    guard isKnown else {
      try reader.zeros(8 + 8 + identifierByteCount + 32)
      return nil
    }
    let (counter, heard) = (try reader.integer(UInt64.self), try reader.integer(UInt64.self))
    let epoch: DeviceTable.Epoch = try reader.identifier()
    var hash: [UInt8] = []
    hash.append(span: try reader.take(32))
    return Head(counter: counter, heard: heard, epoch: epoch, hash: hash)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(device)
    bytes.append(
      (key == nil ? 0 : Self.hasKey) | (head == nil ? 0 : Self.hasHead)
        | (isRemoved ? Self.isRemoved : 0))
    bytes.append(integer: head?.counter ?? 0)
    bytes.append(integer: head?.heard ?? 0)
    bytes.append(head?.epoch ?? .zero)
    bytes.append(contentsOf: head?.hash ?? [UInt8](repeating: 0, count: 32))
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
  public subscript(device: DeviceID) -> DeviceNote? { notes.first { $0.device == device } }

  /// Adds a note, or replaces that of the same copy.
  ///
  /// - Returns: Whether there was room for it.
  public mutating func set(_ note: DeviceNote) -> Bool {
    let place = notes.firstIndex { $0.device >= note.device } ?? notes.endIndex
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
  /// - Throws: ``FormatError/outOfMemory``.
  public func encode() throws(FormatError) -> SecretBytes {
    var bytes = [DeviceTable.layout]
    bytes.append(integer: UInt16(notes.count))
    for note in notes { note.append(to: &bytes) }
    return try .duplicate(bytes.span)
  }
}
