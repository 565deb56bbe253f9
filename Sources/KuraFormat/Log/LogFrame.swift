// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Heads each record of the access log: how long it is, and of what kind.
public struct LogFrame: Equatable, Sendable {
  /// Says what a record is.
  public enum Kind: UInt8, Sendable {
    /// Entries, sealed by who had the vault unlocked.
    case entries = 1
    /// An entry that was made while the vault was locked.
    case locked = 2
  }

  /// The encoded length, in bytes.
  public static let byteCount = 11
  /// The longest record, in bytes.
  public static let longestRecord = 262_144
  /// The most entries that are sealed together.
  public static let mostEntries = 64

  /// What the record holds.
  public let kind: Kind
  /// How many entries the record has.
  public let count: UInt16
  /// The record's length, in bytes.
  public let recordByteCount: Int

  /// The head of a record.
  init(_ kind: Kind, count: UInt16, recordByteCount: Int) {
    self.kind = kind
    self.count = count
    self.recordByteCount = recordByteCount
  }

  /// The length of head and record, in bytes.
  public var frameByteCount: Int { LogFrame.byteCount + recordByteCount }

  /// Reads a head; nil when the bytes are none.
  ///
  /// Its check finds what chance did to it, so that no frame is taken for another length; what somebody
  /// did on purpose, chain and seals find.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= LogFrame.byteCount else { return nil }
    var reader = ByteReader(bytes.extracting(first: LogFrame.byteCount))
    guard let length = try? reader.integer(UInt32.self), length <= LogFrame.longestRecord,
      let raw = try? reader.integer(UInt8.self), let kind = Kind(rawValue: raw),
      let count = try? reader.integer(UInt16.self), let check = try? reader.integer(UInt32.self),
      check == LogFrame.check(bytes.extracting(first: LogFrame.byteCount - 4)),
      (1...LogFrame.mostEntries).contains(Int(count)), kind == .entries || count == 1
    else { return nil }
    self.init(kind, count: count, recordByteCount: Int(length))
  }

  /// Head and record.
  func encode(_ record: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frameByteCount)
    bytes.append(integer: UInt32(recordByteCount))
    bytes.append(kind.rawValue)
    bytes.append(integer: count)
    bytes.append(integer: LogFrame.check(bytes.span))
    bytes.append(span: record)
    return bytes
  }

  /// FNV-1a, 32 bits: another byte always gives another sum.
  private static func check(_ bytes: Span<UInt8>) -> UInt32 {
    var sum: UInt32 = 0x811C_9DC5
    for index in bytes.indices { sum = (sum ^ UInt32(bytes[index])) &* 0x0100_0193 }
    return sum
  }
}

/// Chains a log: each value fixes all frames before it.
public enum LogChain {
  /// The value behind a frame.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func next(
    after value: Digest, _ frame: Span<UInt8>
  ) throws(FormatError) -> Digest {
    do {
      var hash = try KeyedHash(keyBytes: Span())
      hash.update(.logChain)
      hash.update(value.span)
      hash.update(frame)
      return hash.finalize()
    } catch { throw .outOfMemory }
  }
}
