// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import SecureMemory

/// Says how much the secret attributes of an item may be.
public enum SecretAttributes {
  /// The most bytes of all their keys and values together, and so of one.
  public static let longest = 65_536
}

/// Parts a body of format 2 in the value and the secret attributes, in place.
public struct BodyParts: ~Escapable {
  /// The most bytes of a body with both.
  public static let longest = 262_144

  private static let form: UInt8 = 6

  /// The value, as a body without secret attributes has it.
  public let value: Span<UInt8>
  /// The secret attributes: an encoded ``AttributeList``, or ``SealedAttributes`` in a protected item; empty for
  /// none.
  public let secrets: Span<UInt8>

  /// Whether there are secret attributes beside the value in an opened body.
  public static func isParted(_ plaintext: Span<UInt8>) -> Bool {
    !plaintext.isEmpty && plaintext[0] == form
  }

  /// Reads an opened body.
  ///
  /// - Parameters:
  ///   - plaintext: Of any form that an item can have that is not purged.
  ///   - protection: The item's class.
  /// - Throws: ``FormatError/damaged``; what the value's part is, is not looked at.
  @_lifetime(copy plaintext)
  public init(
    decoding plaintext: Span<UInt8>, _ protection: ProtectionClass
  ) throws(FormatError) {
    var reader = ByteReader(plaintext)
    guard try reader.integer(UInt8.self) == BodyParts.form else {
      value = plaintext
      secrets = Span()
      return
    }
    guard plaintext.count <= BodyParts.longest else { throw .damaged }
    let count = Int(try reader.integer(UInt32.self))
    let value = try reader.take(count)
    guard !value.isEmpty, value[0] < BodyParts.form else { throw .damaged }
    let secrets = plaintext.extracting(droppingFirst: reader.offset)
    try BodyParts.check(secrets, protection)
    self.value = value
    self.secrets = secrets
  }

  private static func check(
    _ secrets: Span<UInt8>, _ protection: ProtectionClass
  ) throws(FormatError) {
    var total = 0
    switch protection {
    case .standard:
      let list = try AttributeList(decoding: secrets)
      guard list.count > 0 else { throw .damaged }
      var cursor = list.makeCursor()
      while cursor.advance() { total += cursor.key.count + cursor.value.count }
    case .protected:
      let list = try SealedAttributes(decoding: secrets)
      guard list.count > 0 else { throw .damaged }
      var cursor = list.makeCursor()
      while cursor.advance() { total += cursor.key.count + cursor.size }
    }
    guard total <= SecretAttributes.longest else { throw .damaged }
  }

  /// Puts both together.
  ///
  /// - Parameters:
  ///   - value: A body without secret attributes.
  ///   - secrets: As ``secrets``; not empty.
  /// - Throws: ``FormatError/outOfMemory``.
  public static func join(
    _ value: Span<UInt8>, _ secrets: Span<UInt8>
  ) throws(FormatError) -> SecretBytes {
    precondition(!value.isEmpty && !secrets.isEmpty, "there is nothing to join")
    do {
      var buffer = try SecretBuffer(capacity: 5 + value.count + secrets.count)
      try buffer.append(form)
      try buffer.append(integer: UInt32(value.count))
      try buffer.append(value)
      try buffer.append(secrets)
      return buffer.finish()
    } catch { throw .outOfMemory }
  }
}
