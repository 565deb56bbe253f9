// SPDX-License-Identifier: MIT

/// A reference to a value: `kura://NAME`, `kura://@VAULT/NAME`, either with `?attr=KEY`.
///
/// `%XX` stands for one byte, so that a name with `?`, `%` or a leading `@` can be written.
public struct ItemReference: Equatable, Sendable {
  /// What every reference begins with.
  public static let scheme = "kura://"

  /// The vault's name, or nil for the one in use.
  public let vault: String?
  /// The item's name, not yet held against the rules: the engine does that.
  public let name: String
  /// The attribute meant, or nil for the value.
  public let attribute: String?

  /// Why a text that begins as a reference is none.
  public enum Flaw: Error, Equatable, Sendable {
    /// There is no name.
    case nameMissing
    /// `@` with no vault behind it, or no `/` behind the vault.
    case vaultMissing
    /// Something else than `attr=KEY` behind the `?`.
    case query
    /// A `%` without two hexadecimal digits.
    case escape
    /// What is written is not UTF-8.
    case notUTF8
  }

  /// Whether a text means to be a reference.
  public static func isReference(_ text: String) -> Bool {
    text.utf8.starts(with: scheme.utf8)
  }

  /// Reads a reference.
  ///
  /// - Parameter text: Begins with ``scheme``.
  public init(_ text: String) throws(Flaw) {
    var rest = Array(text.utf8.dropFirst(Self.scheme.utf8.count))
    var attribute: String?
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      attribute = try Self.attribute(Array(rest[(mark + 1)...]))
      rest.removeSubrange(mark...)
    }
    var vault: String?
    if rest.first == UInt8(ascii: "@") {
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > 1 else {
        throw .vaultMissing
      }
      vault = try Self.text(Array(rest[1..<slash]))
      rest.removeSubrange(...slash)
    }
    guard !rest.isEmpty else { throw .nameMissing }
    self.vault = vault
    self.attribute = attribute
    name = try Self.text(rest)
  }

  private static func attribute(_ query: [UInt8]) throws(Flaw) -> String {
    let head = Array("attr=".utf8)
    guard query.starts(with: head), query.count > head.count else { throw .query }
    return try text(Array(query[head.count...]))
  }

  /// The text behind the escapes.
  private static func text(_ bytes: [UInt8]) throws(Flaw) -> String {
    var plain: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%") {
        guard index + 2 < bytes.count, let high = digit(bytes[index + 1]),
          let low = digit(bytes[index + 2])
        else { throw .escape }
        plain.append(high << 4 | low)
        index += 3
      } else {
        plain.append(bytes[index])
        index += 1
      }
    }
    guard let text = String(validating: plain, as: UTF8.self) else { throw .notUTF8 }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
