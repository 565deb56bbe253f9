// SPDX-License-Identifier: MIT

internal import KuraCrypto

extension TryKind {
  fileprivate var place: Int {
    switch self {
    case .passcode: 0
    case .keyFile: 1
    case .local: 2
    case .tpm: 3
    }
  }
}

/// Counts the wrong tries of one kind since the last right one.
public struct TryTally: Equatable, Sendable {
  /// How many there were.
  public var failures: UInt32
  /// When the last one began, in milliseconds of the boot clock.
  public var last: UInt64
  /// What `last` can be compared with.
  public var origin: ClockOrigin

  /// A tally as it was counted.
  public init(failures: UInt32, last: UInt64, origin: ClockOrigin) {
    self.failures = failures
    self.last = last
    self.origin = origin
  }

  /// No wrong try.
  public static let none = TryTally(failures: 0, last: 0, origin: .none)

  /// One wrong try more.
  public mutating func count(at now: UInt64, in origin: ClockOrigin) {
    failures = failures == .max ? .max : failures + 1
    restart(at: now, in: origin)
  }

  /// Has the wait begin now.
  public mutating func restart(at now: UInt64, in origin: ClockOrigin) {
    last = now
    self.origin = origin
  }
}

/// Records the wrong tries at a vault: public, and kept without a key, for they are counted while it is locked.
///
/// Two of them stand in the file and are written in turn, so that a torn write leaves one. The hash finds
/// tearing, nothing more: who can write the file can also delete it.
public struct TryRecord: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 256
  /// The file's length, in bytes.
  public static let fileByteCount = 2 * byteCount
  /// What is counted for each kind when the file cannot be read: damage is no way to more tries.
  public static let suspectedFailures: UInt32 = 5

  private static let magic: [UInt8] = Array("KURATRY2".utf8)
  /// The record before, which knew of no time namespaces.
  private static let olderMagic: [UInt8] = Array("KURATRY1".utf8)
  private static let hashedByteCount = byteCount - Digest.byteCount

  /// One more with every record written.
  public var counter: UInt64 = 0
  private let vault: VaultID
  private var tallies = [TryTally](repeating: .none, count: TryKind.allCases.count)

  /// Nothing tried yet.
  public init(vault: VaultID) { self.vault = vault }

  /// The wrong tries of a kind.
  public subscript(kind: TryKind) -> TryTally {
    get { tallies[kind.place] }
    set { tallies[kind.place] = newValue }
  }

  /// The wrong tries of all kinds.
  public var failures: UInt64 { tallies.reduce(0) { $0 + UInt64($1.failures) } }
}

// MARK: - The file

extension TryRecord {
  /// The record that counts in a file: the valid one with the higher counter.
  ///
  /// A new file has none; one without a valid record is taken for the work of somebody who wants more
  /// tries.
  ///
  /// - Parameters:
  ///   - file: The file's bytes, however many there are.
  ///   - vault: The vault that the records have to be of.
  /// - Throws: ``FormatError/outOfMemory``.
  public init(file: Span<UInt8>, vault: VaultID) throws(FormatError) {
    self.init(vault: vault)
    var isNew = true
    for index in file.indices where file[index] != 0 { isNew = false }
    if isNew { return }
    var latest: TryRecord?
    for start in stride(from: 0, to: TryRecord.fileByteCount, by: TryRecord.byteCount) {
      guard file.count >= start + TryRecord.byteCount else { break }
      let bytes = file.extracting(start..<(start + TryRecord.byteCount))
      guard let record = try TryRecord.decode(bytes, vault: vault) else { continue }
      if record.counter >= latest?.counter ?? 0 { latest = record }
    }
    if let latest {
      self = latest
    } else {
      for kind in TryKind.allCases { self[kind].failures = TryRecord.suspectedFailures }
    }
  }

  /// Where in the file the record belongs: even counters first, odd ones second.
  public var offset: Int { counter.isMultiple(of: 2) ? 0 : TryRecord.byteCount }

  /// The record's 256 bytes, its hash at the end.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func encode() throws(FormatError) -> [UInt8] {
    var bytes = TryRecord.magic
    bytes.append(integer: counter)
    bytes.append(vault)
    for tally in tallies {
      bytes.append(integer: tally.failures)
      bytes.append(integer: tally.last)
      bytes.append(tally.origin.boot)
      bytes.append(integer: tally.origin.namespace)
    }
    bytes.append(zeros: TryRecord.hashedByteCount - bytes.count)
    bytes.append(try TryRecord.digest(bytes.span))
    return bytes
  }

  private static func decode(
    _ bytes: Span<UInt8>, vault: VaultID
  ) throws(FormatError) -> TryRecord? {
    let hashed = bytes.extracting(first: hashedByteCount)
    guard try digest(hashed).isEqual(to: bytes.extracting(last: Digest.byteCount)) else {
      return nil
    }
    return try? TryRecord(hashed: hashed, vault: vault)
  }

  private init(hashed: Span<UInt8>, vault: VaultID) throws(FormatError) {
    self.init(vault: vault)
    var reader = ByteReader(hashed)
    let magic = try reader.take(TryRecord.magic.count)
    let text = magic.indices.map { magic[$0] }
    let isOlder = text == TryRecord.olderMagic
    guard isOlder || text == TryRecord.magic else { throw .damaged }
    counter = try reader.integer()
    // The highest number leaves none for the next record, so that nothing more would count.
    guard counter < .max else { throw .damaged }
    let named: VaultID = try reader.identifier()
    guard named == vault else { throw .damaged }
    for index in tallies.indices {
      tallies[index].failures = try reader.integer()
      tallies[index].last = try reader.integer()
      tallies[index].origin.boot = try reader.identifier()
      if !isOlder { tallies[index].origin.namespace = try reader.integer() }
    }
    try reader.zeros(reader.remaining)
  }

  private static func digest(_ bytes: Span<UInt8>) throws(FormatError) -> Digest {
    do {
      var hash = try KeyedHash(keyBytes: Span())
      hash.update(bytes)
      return hash.finalize()
    } catch {
      throw .outOfMemory
    }
  }
}
