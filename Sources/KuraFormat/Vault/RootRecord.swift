// SPDX-License-Identifier: MIT

public import KuraCrypto

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

  /// A root.
  public init(
    epoch: UInt64, itemCount: UInt64, deletedCount: UInt64, depth: UInt8, treeRoot: Digest,
    headerDigest: Digest, previous: Digest, logHead: Digest = .zero, writer: WriterID,
    time: UInt64
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
  }

  /// Reads an opened root.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding plaintext: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(plaintext)
    epoch = try reader.integer()
    itemCount = try reader.integer()
    deletedCount = try reader.integer()
    depth = try reader.integer()
    try reader.zeros(7)
    treeRoot = try reader.digest()
    headerDigest = try reader.digest()
    previous = try reader.digest()
    logHead = try reader.digest()
    writer = try reader.identifier()
    time = try reader.integer()
    try reader.zeros(RootRecord.reservedCount)
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
    bytes.append(logHead)
    bytes.append(writer)
    bytes.append(integer: time)
    bytes.append(zeros: RootRecord.reservedCount)
    return bytes
  }
}
