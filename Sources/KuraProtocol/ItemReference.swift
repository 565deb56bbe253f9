// SPDX-License-Identifier: MIT

/// A reference to a value: `kura://NAME`, `kura://@VAULT/NAME`, either with `?attr=KEY` or `?otp`.
///
/// `%XX` stands for one byte, so that a name with `?`, `%` or a leading `@` can be written.
/// Everything that takes references reads them here.
public struct ItemReference: Equatable, Sendable {
  /// What every reference begins with.
  public static let scheme = "kura://"

  /// The vault's name, or nil for the one in use.
  public let vault: String?
  /// The item's name, not yet held against the rules: the engine does that.
  public let name: String
  /// What of the item is meant.
  public let part: Part

  /// Says what of an item a reference means.
  public enum Part: Equatable, Sendable {
    /// Its value.
    case value
    /// One of its attributes, by its key.
    case attribute(String)
    /// The one-time code that it gives now.
    case code
  }

  /// Says why a text that means to be a reference is none.
  public enum Flaw: Error, Equatable, Sendable {
    /// It does not begin with `kura://` in lower case.
    case scheme
    /// There is no name.
    case nameMissing
    /// `@` with no vault behind it, or no `/` behind the vault.
    case vaultMissing
    /// Something else than one `attr=KEY`, or `otp`, behind the `?`.
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
  public init(_ text: String) throws(Flaw) { try self.init(bytes: Array(text.utf8)) }

  /// Reads a reference from bytes that may be anything.
  ///
  /// - Throws: ``Flaw``: what is no reference never passes for one.
  public init(bytes: [UInt8]) throws(Flaw) {
    guard bytes.starts(with: Self.scheme.utf8) else { throw .scheme }
    var rest = bytes[Self.scheme.utf8.count...]
    var part = Part.value
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      part = try Self.part(rest[(mark + 1)...])
      rest = rest[..<mark]
    }
    var vault: String?
    if rest.first == UInt8(ascii: "@") {
      let named = rest.dropFirst()
      guard let slash = named.firstIndex(of: UInt8(ascii: "/")), slash > named.startIndex else {
        throw .vaultMissing
      }
      vault = try Self.text(named[..<slash])
      rest = named[(slash + 1)...]
    }
    guard !rest.isEmpty else { throw .nameMissing }
    self.vault = vault
    self.part = part
    name = try Self.text(rest)
  }

  /// A reference to the value of another item of the same vault.
  public func naming(_ name: String) -> ItemReference {
    ItemReference(vault: vault, name: name, part: .value)
  }

  private init(vault: String?, name: String, part: Part) {
    self.vault = vault
    self.name = name
    self.part = part
  }

  private static func part(_ query: ArraySlice<UInt8>) throws(Flaw) -> Part {
    if query.elementsEqual("otp".utf8) { return .code }
    let head = "attr=".utf8
    guard query.starts(with: head), query.count > head.count else { throw .query }
    let key = query.dropFirst(head.count)
    // A second `?` or `&` is a query of another kind; one in a key is written as %3F or %26.
    guard !key.contains(UInt8(ascii: "?")), !key.contains(UInt8(ascii: "&")) else { throw .query }
    return .attribute(try text(key))
  }

  /// The text behind the escapes.
  private static func text(_ bytes: ArraySlice<UInt8>) throws(Flaw) -> String {
    var plain: [UInt8] = []
    plain.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "%") {
        guard index + 2 < bytes.endIndex, let high = digit(bytes[index + 1]),
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

// MARK: - Writing

extension ItemReference {
  /// What it names, for people: the name, with the vault in front and the part behind where there are such.
  public var words: String {
    let whole = (vault.map { "@" + $0 + "/" } ?? "") + name
    switch part {
    case .value: return whole
    case .attribute(let key): return whole + "?attr=" + key
    case .code: return whole + "?otp"
    }
  }

  /// A name as it stands in a reference, also in a bare one.
  public static func escaped(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      if isAlphanumeric(byte) || byte >= 0x80 || "-._~/+:=".utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), hexadecimal(byte >> 4), hexadecimal(byte & 0xF)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
  }
}

// MARK: - In a text

extension ItemReference {
  /// Whether a text says `kura://`, in upper or lower case, at some place: then it means a
  /// reference, and what follows must be one.
  public static func begins(_ text: Span<UInt8>, at start: Int) -> Bool {
    let word = scheme.utf8
    guard start >= 0, text.count - start >= word.count else { return false }
    var index = start
    for byte in word {
      let other = text[index]
      guard other == byte || (isUpper(other) && other | 0x20 == byte) else { return false }
      index += 1
    }
    return true
  }

  /// Where a bare reference ends: it takes in letters, digits, `-._~/@?=%+:` and all that is not
  /// ASCII.
  public static func end(in text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < text.count, isBare(text[index]) { index += 1 }
    return index
  }

  /// Whether a `kura://` behind this byte is the end of some other scheme.
  public static func joins(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    byte >= 0x80 || isAlphanumeric(byte) || "-._~/@?=%+:".utf8.contains(byte)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || isUpper(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  private static func isUpper(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }
}
