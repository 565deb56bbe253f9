// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Remembers what a machine last saw of a vault: the anchor that an older copy is told by.
///
/// Two of them stand in the seen file and are written in turn, so that a torn write leaves one.
public struct SeenRecord: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 512
  /// The file's length, in bytes.
  public static let fileByteCount = 2 * byteCount
  /// The longest path that is kept, in bytes; a longer one is cut at its front.
  public static let longestPath = 360

  private static let magic: [UInt8] = Array("KURASEEN".utf8)
  private static let hashedByteCount = byteCount - Digest.byteCount

  /// One more with every record written.
  public var counter: UInt64
  /// The vault.
  public var vault: VaultID
  /// The root's epoch.
  public var epoch: UInt64
  /// The root's fingerprint.
  public var fingerprint: Digest
  /// The head of the access log; zero where there is none.
  public var logHead: Digest
  /// When, in milliseconds since 1970.
  public var time: UInt64
  /// The vault file's path; no secret.
  public var path: [UInt8]
  /// Whether this machine wrote that state: one that it only saw may go on elsewhere, too, as the same copy.
  public var isOwn: Bool

  /// A record.
  public init(
    counter: UInt64, vault: VaultID, epoch: UInt64, fingerprint: Digest,
    logHead: Digest = .zero, time: UInt64, path: [UInt8], isOwn: Bool = true
  ) {
    self.isOwn = isOwn
    self.counter = counter
    self.vault = vault
    self.epoch = epoch
    self.fingerprint = fingerprint
    self.logHead = logHead
    self.time = time
    self.path = Array(path.suffix(SeenRecord.longestPath))
  }

  /// Reads one record and checks its hash.
  ///
  /// - Parameters:
  ///   - key: The vault key's subkey for what was seen.
  ///   - vault: The vault that the record has to be of.
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public init(
    decoding bytes: Span<UInt8>, key: borrowing Key, vault: VaultID
  ) throws(FormatError) {
    guard bytes.count == SeenRecord.byteCount else { throw .damaged }
    let hashed = bytes.extracting(first: SeenRecord.hashedByteCount)
    let digest = try SeenRecord.digest(hashed, key: key)
    guard digest.isEqual(to: bytes.extracting(last: Digest.byteCount)) else { throw .damaged }
    try self.init(unchecked: bytes, vault: vault)
  }

  private init(unchecked bytes: Span<UInt8>, vault: VaultID) throws(FormatError) {
    var reader = ByteReader(bytes.extracting(first: SeenRecord.hashedByteCount))
    let magic = try reader.take(SeenRecord.magic.count)
    for index in magic.indices where magic[index] != SeenRecord.magic[index] {
      throw .damaged
    }
    counter = try reader.integer()
    self.vault = try reader.identifier()
    epoch = try reader.integer()
    fingerprint = try reader.digest()
    logHead = try reader.digest()
    time = try reader.integer()
    let path = try reader.counted16(limit: SeenRecord.longestPath)
    self.path = []
    self.path.append(span: path)
    try reader.zeros(reader.remaining - 1)
    let isForeign: UInt8 = try reader.integer()
    isOwn = isForeign == 0
    guard self.vault == vault, isForeign <= 1 else { throw .damaged }
  }

  /// The record's 512 bytes, its hash at the end.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func encode(key: borrowing Key) throws(FormatError) -> [UInt8] {
    var bytes = SeenRecord.magic
    bytes.reserveCapacity(SeenRecord.byteCount)
    bytes.append(integer: counter)
    bytes.append(vault)
    bytes.append(integer: epoch)
    bytes.append(fingerprint)
    bytes.append(logHead)
    bytes.append(integer: time)
    bytes.append(integer: UInt16(path.count))
    bytes.append(contentsOf: path)
    bytes.append(zeros: SeenRecord.hashedByteCount - 1 - bytes.count)
    bytes.append(isOwn ? 0 : 1)
    bytes.append(try SeenRecord.digest(bytes.span, key: key))
    return bytes
  }

  private static func digest(
    _ bytes: Span<UInt8>, key: borrowing Key
  ) throws(FormatError) -> Digest {
    do {
      var hash = try KeyedHash(key: key)
      hash.update(bytes)
      return hash.finalize()
    } catch {
      throw .outOfMemory
    }
  }
}

/// Reads what a record in a seen file says, whoever wrote it.
public struct SeenClaim: Equatable, Sendable {
  /// The root's counter of writes.
  public let counter: UInt64
  /// The epoch of the keys then.
  public let epoch: UInt64
  /// Tells the state apart from others of the same counter.
  public let fingerprint: Digest
  /// The end of the access log's chain.
  public let logHead: Digest
}

// MARK: - The file

extension SeenRecord {
  /// The record of a seen file that counts: the valid one with the higher counter.
  ///
  /// - Parameter file: The file's bytes.
  /// - Throws: ``FormatError/damaged`` when neither is valid, ``FormatError/outOfMemory``.
  public static func latest(
    in file: Span<UInt8>, key: borrowing Key, vault: VaultID
  ) throws(FormatError) -> SeenRecord {
    guard file.count == fileByteCount else { throw .damaged }
    var latest: SeenRecord?
    for place in 0..<2 {
      let bytes = file.extracting((place * byteCount)..<((place + 1) * byteCount))
      do {
        let record = try SeenRecord(decoding: bytes, key: key, vault: vault)
        if record.counter >= latest?.counter ?? 0 { latest = record }
      } catch .damaged {
        continue
      }
    }
    guard let latest else { throw .damaged }
    return latest
  }

  /// What a seen file says of itself, without a key to check it: the record with the higher counter.
  ///
  /// Only good for leaving a file alone that somebody else has written since.
  ///
  /// - Returns: nil when nothing in it looks like a record of the vault.
  public static func claim(in file: Span<UInt8>, vault: VaultID) -> SeenClaim? {
    guard file.count == fileByteCount else { return nil }
    var latest: SeenClaim?
    for place in 0..<2 {
      let bytes = file.extracting((place * byteCount)..<((place + 1) * byteCount))
      guard let claim = claim(ofRecord: bytes, vault: vault) else { continue }
      if claim.counter >= latest?.counter ?? 0 { latest = claim }
    }
    return latest
  }

  private static func claim(ofRecord bytes: Span<UInt8>, vault: VaultID) -> SeenClaim? {
    var reader = ByteReader(bytes)
    guard let magic = try? reader.take(SeenRecord.magic.count) else { return nil }
    for index in magic.indices where magic[index] != SeenRecord.magic[index] { return nil }
    guard let counter: UInt64 = try? reader.integer(), let own: VaultID = try? reader.identifier(),
      own == vault, let epoch: UInt64 = try? reader.integer(),
      let fingerprint = try? reader.digest(), let logHead = try? reader.digest()
    else { return nil }
    return SeenClaim(counter: counter, epoch: epoch, fingerprint: fingerprint, logHead: logHead)
  }

  /// The highest epoch that a seen file claims for a vault, whoever wrote that: nothing is checked.
  ///
  /// - Returns: The record; nil when none has the form of one.
  public static func claimed(in file: Span<UInt8>, vault: VaultID) -> SeenRecord? {
    guard file.count == fileByteCount else { return nil }
    var highest: SeenRecord?
    for place in 0..<2 {
      let bytes = file.extracting((place * byteCount)..<((place + 1) * byteCount))
      guard let record = try? SeenRecord(unchecked: bytes, vault: vault) else { continue }
      if record.epoch >= highest?.epoch ?? 0 { highest = record }
    }
    return highest
  }

  /// Where in the file the record belongs: even counters first, odd ones second.
  public var offset: Int { counter.isMultiple(of: 2) ? 0 : SeenRecord.byteCount }
}
