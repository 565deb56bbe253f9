// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Says what a machine does about the code of a slot while the vault is locked: after how many wrong ones in a
/// row its secret for the slot is destroyed, or at which length a code is sent without Enter.
///
/// It stands beside that secret, because it has to act while the vault is locked; authenticated under the
/// secret, with which it would not be worth the trouble to forge it.
public struct DeviceRule: Equatable, Sendable {
  /// Names what a rule is about.
  public enum Subject: Sendable {
    /// The value is a number of wrong codes; 0 for never.
    case erase
    /// The value is a number of characters; 0 for never.
    case submit

    fileprivate var magic: [UInt8] {
      switch self {
      case .erase: Array("KURAERA1".utf8)
      case .submit: Array("KURASUB1".utf8)
      }
    }

    fileprivate var label: Label {
      switch self {
      case .erase: .eraseRule
      case .submit: .submitRule
      }
    }
  }

  /// The encoded length, in bytes.
  public static let byteCount = 72

  private static let hashedByteCount = byteCount - Digest.byteCount

  /// What it is about.
  public let subject: Subject
  /// The slot.
  public let slot: SlotID
  /// How many, by the subject.
  public let value: UInt64

  /// A rule.
  public init(_ subject: Subject, slot: SlotID, value: UInt64) {
    self.subject = subject
    self.slot = slot
    self.value = value
  }

  /// Reads a rule.
  ///
  /// - Parameters:
  ///   - subject: What it has to be about.
  ///   - secret: The slot's secret on this machine, 32 bytes.
  ///   - slot: The slot that it has to be of.
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  public init(
    decoding bytes: Span<UInt8>, _ subject: Subject, secret: Span<UInt8>, slot: SlotID
  ) throws(FormatError) {
    guard bytes.count == DeviceRule.byteCount else { throw .damaged }
    let hashed = bytes.extracting(first: DeviceRule.hashedByteCount)
    let digest = try DeviceRule.digest(hashed, subject, secret)
    guard digest.isEqual(to: bytes.extracting(last: Digest.byteCount)) else { throw .damaged }
    var reader = ByteReader(hashed)
    let magic = try reader.take(8)
    for index in magic.indices where magic[index] != subject.magic[index] { throw .damaged }
    let own: SlotID = try reader.identifier()
    value = try reader.integer()
    try reader.zeros(reader.remaining)
    guard own == slot else { throw .damaged }
    self.slot = own
    self.subject = subject
  }

  /// The rule's 72 bytes, its hash at the end.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public func encode(secret: Span<UInt8>) throws(FormatError) -> [UInt8] {
    var bytes = subject.magic
    bytes.append(slot)
    bytes.append(integer: value)
    bytes.append(zeros: DeviceRule.hashedByteCount - bytes.count)
    bytes.append(try DeviceRule.digest(bytes.span, subject, secret))
    return bytes
  }

  private static func digest(
    _ bytes: Span<UInt8>, _ subject: Subject, _ secret: Span<UInt8>
  ) throws(FormatError) -> Digest {
    do {
      var hash = try KeyedHash(keyBytes: secret)
      hash.update(subject.label)
      hash.update(bytes)
      return hash.finalize()
    } catch {
      throw .outOfMemory
    }
  }
}
