// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Says which copy of a vault a file is, and what that copy has changed; in roots of format 2.
public struct CopyState: Equatable, Sendable {
  /// The copy.
  public var device: DeviceID
  /// The counter of its last change; 0 before the first.
  public var counter: UInt64
  /// What the records of the journal come to together; zero where there are none.
  public var journalHead: Digest
  /// How many records the journal has.
  public var journalCount: UInt64

  /// - Parameters:
  ///   - device: The copy.
  ///   - counter: The counter of its last change.
  ///   - journalHead: ``JournalHead``'s digest.
  ///   - journalCount: How many records that is of.
  public init(
    device: DeviceID, counter: UInt64 = 0, journalHead: Digest = .zero, journalCount: UInt64 = 0
  ) {
    self.device = device
    self.counter = counter
    self.journalHead = journalHead
    self.journalCount = journalCount
  }

  fileprivate var isPossible: Bool {
    device != .zero && counter <= RevisionEntry.counters.upperBound
      && (journalCount == 0) == (journalHead == .zero)
  }
}

/// Vouches for the whole vault, as of one commit: the sealed root.
public struct RootRecord: Equatable, Sendable {
  /// The encoded length, in bytes; it is sealed without padding.
  public static let byteCount = 224

  private static let reservedCount = 40

  /// One more with every commit, from 1.
  public var epoch: UInt64
  /// Rows in the item table, deleted items too.
  public var itemCount: UInt64
  /// Deleted items among them.
  public var deletedCount: UInt64
  /// Levels of tree nodes, 1 to ``Tree/deepest``.
  public var depth: UInt8
  /// The digest of the tree's top node.
  public var treeRoot: Digest
  /// The digest of header, ring and all slots.
  public var headerDigest: Digest
  /// The fingerprint of the root before this one; zero for the first.
  public var previous: Digest
  /// The head of the access log; zero where there is none.
  public var logHead: Digest
  /// Who wrote it.
  public var writer: WriterID
  /// When, in milliseconds since 1970.
  public var time: UInt64
  /// Which copy it is; nil in format 1, which knows none.
  public var copy: CopyState?

  /// A root.
  public init(
    epoch: UInt64, itemCount: UInt64, deletedCount: UInt64, depth: UInt8, treeRoot: Digest,
    headerDigest: Digest, previous: Digest, logHead: Digest = .zero, writer: WriterID,
    time: UInt64, copy: CopyState? = nil
  ) {
    self.epoch = epoch
    self.itemCount = itemCount
    self.deletedCount = deletedCount
    self.depth = depth
    self.treeRoot = treeRoot
    self.headerDigest = headerDigest
    self.previous = previous
    self.logHead = logHead
    self.writer = writer
    self.time = time
    self.copy = copy
  }

  /// Reads an opened root.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(
    decoding plaintext: Span<UInt8>, of format: VaultFormat = .first
  ) throws(FormatError) {
    var reader = ByteReader(plaintext)
    epoch = try reader.integer()
    itemCount = try reader.integer()
    deletedCount = try reader.integer()
    depth = try reader.integer()
    try reader.zeros(7)
    treeRoot = try reader.digest()
    headerDigest = try reader.digest()
    previous = try reader.digest()
    switch format {
    case .first:
      logHead = try reader.digest()
      writer = try reader.identifier()
      time = try reader.integer()
      try reader.zeros(RootRecord.reservedCount)
    case .second:
      logHead = .zero
      var copy = CopyState(device: try reader.identifier(), counter: try reader.integer())
      try reader.zeros(8)
      writer = try reader.identifier()
      time = try reader.integer()
      copy.journalHead = try reader.digest()
      copy.journalCount = try reader.integer()
      guard copy.isPossible else { throw .damaged }
      self.copy = copy
    }
    try reader.finish()
    guard epoch >= 1, deletedCount <= itemCount, (1...Tree.deepest).contains(depth) else {
      throw .damaged
    }
  }

  /// The 224 bytes to seal, of which the fingerprint is made too.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(RootRecord.byteCount)
    bytes.append(integer: epoch)
    bytes.append(integer: itemCount)
    bytes.append(integer: deletedCount)
    bytes.append(depth)
    bytes.append(zeros: 7)
    bytes.append(treeRoot)
    bytes.append(headerDigest)
    bytes.append(previous)
    if let copy {
      bytes.append(copy.device)
      bytes.append(integer: copy.counter)
      bytes.append(zeros: 8)
    } else {
      bytes.append(logHead)
    }
    bytes.append(writer)
    bytes.append(integer: time)
    if let copy {
      bytes.append(copy.journalHead)
      bytes.append(integer: copy.journalCount)
    } else {
      bytes.append(zeros: RootRecord.reservedCount)
    }
    return bytes
  }
}
