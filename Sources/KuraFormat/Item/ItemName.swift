// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Holds an item's name, checked: UTF-8 in normal form C, components between slashes; a secret.
public struct ItemName: ~Copyable, Sendable {
  /// The longest name, in bytes.
  public static let longest = 1024

  private let secret: SecretBytes

  /// The name's bytes, to read.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { secret.bytes }
  }

  /// Checks a name and brings it to normal form C.
  ///
  /// - Parameter typed: The bytes as given; only borrowed.
  /// - Throws: ``FormatError/nameInvalid(_:)``, ``FormatError/outOfMemory``.
  public init(_ typed: Span<UInt8>) throws(FormatError) {
    secret = try ItemName.checked(try ItemName.normalize(typed))
  }

  private static func checked(_ name: consuming SecretBytes) throws(FormatError) -> SecretBytes {
    if let rule = brokenRule(name.bytes) { throw .nameInvalid(rule) }
    return name
  }

  /// The keyed hash by which the item's row is found.
  ///
  /// - Parameter key: The vault key's subkey for names.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func tag(under key: borrowing Key) throws(CryptoError) -> ItemTag {
    try ItemName.tag(of: bytes, under: key)
  }

  /// The tag of what is left of a purged item, which is that of no name.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func tag(
    ofPurged item: ItemID, under key: borrowing Key
  ) throws(CryptoError) -> ItemTag {
    var hash = try KeyedHash(key: key, byteCount: identifierByteCount)
    hash.update(integer: UInt8(0))
    hash.update(item)
    return Identifier(hash.finalize().span)
  }

  /// The tag of a name that is known to follow the rules, such as one from an opened meta.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func tag(
    of name: Span<UInt8>, under key: borrowing Key
  ) throws(CryptoError) -> ItemTag {
    var hash = try KeyedHash(key: key, byteCount: identifierByteCount)
    hash.update(name)
    return Identifier(hash.finalize().span)
  }

  /// Brings a text to normal form C without the rules for whole names: the start of a name, or text
  /// to find in names.
  ///
  /// - Throws: ``FormatError/nameInvalid(_:)``, ``FormatError/outOfMemory``.
  public static func normalize(_ text: Span<UInt8>) throws(FormatError) -> SecretBytes {
    do {
      return try Text.normalize(text, limit: longest)
    } catch {
      switch error {
      case .rule(let rule): throw .nameInvalid(NameRule(rule))
      case .outOfMemory: throw .outOfMemory
      }
    }
  }
}

// MARK: - Rules

extension ItemName {
  /// Whether bytes are a name as it is stored.
  static func isCanonical(_ name: Span<UInt8>) -> Bool {
    Text.isCanonical(name, limit: longest) && brokenRule(name) == nil
  }

  /// The rule for whole names that a normalised text breaks.
  private static func brokenRule(_ name: Span<UInt8>) -> NameRule? {
    guard !name.isEmpty else { return .empty }
    var start = 0
    for end in 0...name.count where end == name.count || name[end] == UInt8(ascii: "/") {
      switch end - start {
      case 0: return .emptyComponent
      case 1...2 where isDots(name.extracting(start..<end)): return .dotComponent
      default: start = end + 1
      }
    }
    return nil
  }

  private static func isDots(_ component: Span<UInt8>) -> Bool {
    for index in component.indices where component[index] != UInt8(ascii: ".") { return false }
    return true
  }
}
