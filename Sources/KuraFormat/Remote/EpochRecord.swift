// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Begins an epoch of a remote, a time between two vault keys: see kura-sync-format(5).
public struct EpochRecord: Equatable, Sendable {
  /// The most epochs that one takes the place of.
  public static let mostParents = 8
  /// The most that it follows.
  public static let mostAncestors = 1_024

  private static let purpose = Array("kura1/epoch".utf8)
  private static let proofByteCount = 32

  /// The vault.
  public let vault: VaultID
  /// Who made it.
  public let maker: DeviceID
  /// What its signature was checked with; 32 zeros before it is signed.
  public private(set) var key: [UInt8]
  /// The epochs that it takes the place of, ascending; none of the first.
  public let parents: [DeviceTable.Epoch]
  /// All that it follows, ascending, the parents among them.
  public let ancestors: [DeviceTable.Epoch]
  /// An ``EpochCut``, sealed under the epoch's own key.
  public let sealed: [UInt8]
  /// Shows that its maker had the key of each parent, in turn.
  public private(set) var proofs: [[UInt8]]

  /// A record that nobody has signed.
  ///
  /// - Parameters:
  ///   - vault: The vault.
  ///   - maker: Who makes it.
  ///   - parents: At most ``mostParents``, each one of the ancestors.
  ///   - ancestors: At most ``mostAncestors``; none only without parents.
  ///   - sealed: The cut.
  public init(
    vault: VaultID, maker: DeviceID, parents: Set<DeviceTable.Epoch>,
    ancestors: Set<DeviceTable.Epoch>, sealed: [UInt8]
  ) {
    precondition(parents.count <= EpochRecord.mostParents, "parents were counted")
    precondition(ancestors.count <= EpochRecord.mostAncestors, "ancestors were counted")
    precondition(
      parents.isSubset(of: ancestors) && parents.isEmpty == ancestors.isEmpty, "who follows them")
    (self.vault, self.maker, self.sealed) = (vault, maker, sealed)
    (self.parents, self.ancestors) = (parents.sorted(), ancestors.sorted())
    (key, proofs) = ([UInt8](repeating: 0, count: SigningPair.byteCount), [])
  }

  /// Reads a record, and checks its signature by the key that it brings; whether its proofs are right is asked of
  /// ``isProved(for:under:)``.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    (vault, maker, key) = (
      try reader.identifier(), try reader.identifier(), try reader.hash()
    )
    let parentCount = Int(try reader.integer(UInt8.self))
    guard parentCount <= EpochRecord.mostParents else { throw .damaged }
    var parents: [DeviceTable.Epoch] = []
    for _ in 0..<parentCount { parents.append(try reader.identifier()) }
    ancestors = try reader.list(
      most: EpochRecord.mostAncestors, byteCount: identifierByteCount
    ) { reader throws(FormatError) in try reader.identifier() }
    let count = Int(try reader.integer(UInt32.self))
    var (sealed, proofs, signature): ([UInt8], [[UInt8]], [UInt8]) = ([], [], [])
    sealed.append(span: try reader.take(count))
    for _ in 0..<parentCount { proofs.append(try reader.hash()) }
    (self.parents, self.sealed, self.proofs) = (parents, sealed, proofs)
    signature.append(span: try reader.take(SigningPair.signatureByteCount))
    try reader.finish()
    guard ascend(parents, by: <), ascend(ancestors, by: <),
      Set(parents).isSubset(of: ancestors), parents.isEmpty == ancestors.isEmpty
    else { throw .damaged }
    var signed = EpochRecord.purpose
    signed.append(span: bytes.extracting(first: bytes.count - signature.count))
    guard SigningPair.isSigned(signed, by: key, signature: signature) else { throw .damaged }
  }

  /// The bytes of the record with its proofs and the signature of its maker, whose public half it gets.
  ///
  /// - Parameters:
  ///   - pair: The maker's.
  ///   - prove: Gives the proof key of a parent, by ``KeyPurpose/epoch`` of its vault key.
  /// - Throws: What `prove` throws, ``FormatError/outOfMemory``.
  public mutating func signed(
    with pair: borrowing SigningPair,
    proving prove: (DeviceTable.Epoch) throws(FormatError) -> Key
  ) throws(FormatError) -> [UInt8] {
    key = pair.publicHalf
    proofs = []
    for parent in parents { proofs.append(try proof(under: try prove(parent))) }
    let bytes = front + proofs.joined()
    return bytes + pair.signature(of: EpochRecord.purpose + bytes)
  }

  /// Whether the maker had the key of a parent.
  ///
  /// - Parameters:
  ///   - parent: One of ``parents``; of another epoch nothing is proved.
  ///   - key: The parent's proof key.
  /// - Throws: ``FormatError/outOfMemory``.
  public func isProved(
    for parent: DeviceTable.Epoch, under key: borrowing Key
  ) throws(FormatError) -> Bool {
    guard let place = parents.firstIndex(of: parent), place < proofs.count else { return false }
    let proof = try proof(under: key)
    return proof == proofs[place]
  }

  private func proof(under key: borrowing Key) throws(FormatError) -> [UInt8] {
    do {
      var hash = try KeyedHash(key: key, byteCount: EpochRecord.proofByteCount)
      hash.update(front.span)
      return hash.finalize().bytes
    } catch { throw .outOfMemory }
  }

  /// All of it before the proofs.
  private var front: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(vault)
    bytes.append(maker)
    bytes.append(contentsOf: key)
    bytes.append(UInt8(parents.count))
    for parent in parents { bytes.append(parent) }
    bytes.append(integer: UInt16(ancestors.count))
    for ancestor in ancestors { bytes.append(ancestor) }
    bytes.append(integer: UInt32(sealed.count))
    bytes.append(contentsOf: sealed)
    return bytes
  }
}
