// SPDX-License-Identifier: MIT

public import KuraCrypto

/// Holds what a head of a remote says to whoever knows its device, under whatever vault key: see kura-sync-format(5).
public struct RemoteHead: Equatable, Sendable {
  /// The longest head, in bytes.
  public static let longest = 262_144

  private static let magic: [UInt8] = [0x4B, 0x55, 0x52, 0x41, 0x48, 0x45, 0x41, 0x44]
  private static let layout: UInt16 = 1
  private static let purpose = Array("kura1/head".utf8)

  /// The vault.
  public var vault: VaultID
  /// Who wrote it.
  public var device: DeviceID
  /// Its place among the heads of its device, from 1.
  public var number: UInt64
  /// The epoch under whose key it is sealed.
  public var epoch: DeviceTable.Epoch
  /// The hash of that epoch's record.
  public var record: [UInt8]
  /// The hash of the header object; zeros for none.
  public var header: [UInt8]
  /// The hashes of the chains, which name the heads before it by the thousand.
  public var chains: [[UInt8]]
  /// The heads before it that stand in no chain yet.
  public var former: [HeadID]
  /// The hashes of the journals.
  public var journals: [[UInt8]]
  /// What the device says to itself, sealed.
  public var own: [UInt8]
  /// What it says to the others, sealed: a ``HeadReport``.
  public var sealed: [UInt8]
  /// What its signature was checked with; 32 zeros before it is signed.
  public private(set) var key: [UInt8]

  /// A head without lists, that nobody has signed.
  public init(vault: VaultID, device: DeviceID, epoch: DeviceTable.Epoch) {
    let none = [UInt8](repeating: 0, count: 32)
    (self.vault, self.device, self.epoch, number) = (vault, device, epoch, 1)
    (record, header, key) = (none, none, none)
    (chains, former, journals, own, sealed) = ([], [], [], [], [])
  }

  /// Reads a head, and checks its signature by the key that it brings.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    guard bytes.count <= RemoteHead.longest else { throw .damaged }
    var reader = ByteReader(bytes)
    for byte in RemoteHead.magic where try reader.integer(UInt8.self) != byte { throw .damaged }
    guard try reader.integer(UInt16.self) == RemoteHead.layout else { throw .damaged }
    try reader.zeros(2)
    (vault, device) = (try reader.identifier(), try reader.identifier())
    (key, number) = (try reader.hash(), try reader.integer())
    (epoch, record, header) = (try reader.identifier(), try reader.hash(), try reader.hash())
    chains = try reader.list(most: RemoteBlock.count, byteCount: 32) { reader throws(FormatError) in
      try reader.hash()
    }
    former = try reader.list(most: RemoteBlock.count - 1, byteCount: 16) {
      reader throws(FormatError) in try reader.identifier()
    }
    journals = try reader.list(most: Int(UInt16.max), byteCount: 32) {
      reader throws(FormatError) in try reader.hash()
    }
    (own, sealed) = (try RemoteHead.counted(&reader), try RemoteHead.counted(&reader))
    guard number == UInt64(RemoteBlock.count * chains.count + former.count + 1)
    else { throw .damaged }
    var signature: [UInt8] = []
    signature.append(span: try reader.take(SigningPair.signatureByteCount))
    try reader.finish()
    var signed = RemoteHead.purpose
    signed.append(span: bytes.extracting(first: bytes.count - signature.count))
    guard SigningPair.isSigned(signed, by: key, signature: signature) else { throw .damaged }
  }

  /// Whether these may be the first bytes of a head, of which the rest has not come.
  public static func isCut(_ bytes: Span<UInt8>) -> Bool {
    for (index, byte) in magic.enumerated() {
      guard index < bytes.count else { return true }
      guard bytes[index] == byte else { return false }
    }
    var reader = ByteReader(bytes)
    do throws(FormatError) {
      // Magic to flags, vault, device, key, number, epoch, record, header.
      _ = try reader.take(12 + 2 * identifierByteCount + 32 + 8 + identifierByteCount + 64)
      for byteCount in [32, identifierByteCount, 32] {
        _ = try reader.take(Int(try reader.integer(UInt16.self)) * byteCount)
      }
      for _ in 0..<2 { _ = try reader.take(Int(try reader.integer(UInt32.self))) }
      return reader.remaining < SigningPair.signatureByteCount
    } catch { return true }
  }

  /// Whether these begin like a head of a later layout than there is.
  public static func isNewer(_ bytes: Span<UInt8>) -> Bool {
    var reader = ByteReader(bytes)
    do throws(FormatError) {
      for byte in magic where try reader.integer(UInt8.self) != byte { return false }
      return try reader.integer(UInt16.self) > layout
    } catch { return false }
  }

  private static func counted(_ reader: inout ByteReader) throws(FormatError) -> [UInt8] {
    let count = try reader.integer(UInt32.self)
    guard count <= longest else { throw .damaged }
    var bytes: [UInt8] = []
    bytes.append(span: try reader.take(Int(count)))
    return bytes
  }

  /// The bytes of the head with the signature of its device, whose public half it gets.
  public mutating func signed(with pair: borrowing SigningPair) -> [UInt8] {
    key = pair.publicHalf
    let bytes = unsigned
    return bytes + pair.signature(of: RemoteHead.purpose + bytes)
  }

  /// All of it but the signature.
  var unsigned: [UInt8] {
    var bytes = RemoteHead.magic
    bytes.append(integer: RemoteHead.layout)
    bytes.append(zeros: 2)
    bytes.append(vault)
    bytes.append(device)
    bytes.append(contentsOf: key)
    bytes.append(integer: number)
    bytes.append(epoch)
    bytes.append(contentsOf: record)
    bytes.append(contentsOf: header)
    bytes.append(integer: UInt16(chains.count))
    for chain in chains { bytes.append(contentsOf: chain) }
    bytes.append(integer: UInt16(former.count))
    for head in former { bytes.append(head) }
    bytes.append(integer: UInt16(journals.count))
    for journal in journals { bytes.append(contentsOf: journal) }
    for part in [own, sealed] {
      bytes.append(integer: UInt32(part.count))
      bytes.append(contentsOf: part)
    }
    return bytes
  }
}
