// SPDX-License-Identifier: MIT

internal import CUnicode
internal import SecureMemory

/// Checks UTF-8 in guarded memory, and brings it to Unicode's normal form C by libutf8proc.
enum Text {
  /// Says what a character may be replaced with before it is normalised.
  enum Mapping {
    /// Nothing.
    case none
    /// Every space that is not ASCII becomes U+0020 (RFC 8265 §4.2.2).
    case spaces
  }

  /// Checks a text and brings it to normal form C.
  ///
  /// - Parameters:
  ///   - text: Any bytes; only borrowed.
  ///   - limit: The most bytes that the result may have.
  /// - Throws: What the text breaks; an empty text breaks nothing.
  static func normalize(
    _ text: Span<UInt8>, limit: Int, mapping: Mapping = .none
  ) throws(TextFailure) -> SecretBytes {
    if isPlainASCII(text) {
      guard text.count <= limit else { throw .rule(.tooLong) }
      return try secret { () throws(SecureMemoryError) in try SecretBytes(copying: text) }
    }
    // Composing makes a text shorter by no more than two thirds (three Hangul letters to a syllable);
    // without a bound, a huge one would cost memory before it is refused.
    guard text.count <= 4 * limit else { throw .rule(.tooLong) }
    guard try isAssigned(text) else { throw .rule(.unassignedCharacter) }
    let normal = try compose(text, mapping: mapping)
    guard normal.count <= limit else { throw .rule(.tooLong) }
    return normal
  }

  /// Whether a text follows the rules and is in normal form C already, as a stored one has to be.
  ///
  /// Characters that our Unicode does not know may have been written with a later one: they are no
  /// fault here, and what their normal form is cannot be told.
  static func isCanonical(_ text: Span<UInt8>, limit: Int) -> Bool {
    guard text.count <= limit else { return false }
    if isPlainASCII(text) { return true }
    do {
      guard try isAssigned(text) else { return true }
      return try compose(text, mapping: .none).isEqual(to: text)
    } catch {
      return false
    }
  }

  /// Whether a text is ASCII without control characters, which is its own normal form.
  private static func isPlainASCII(_ text: Span<UInt8>) -> Bool {
    for index in text.indices where text[index] < 0x20 || text[index] > 0x7E { return false }
    return true
  }
}

/// Says why a text could not be normalised.
enum TextFailure: Error {
  case rule(TextRule)
  case outOfMemory
}

private func secret(
  _ body: () throws(SecureMemoryError) -> SecretBytes
) throws(TextFailure) -> SecretBytes {
  do { return try body() } catch { throw .outOfMemory }
}

// MARK: - Characters

extension Text {
  /// Whether a text is UTF-8 without NUL.
  static func isUTF8(_ text: Span<UInt8>) -> Bool {
    var offset = 0
    while offset < text.count {
      guard let scalar = scalar(in: text, at: &offset), scalar != 0 else { return false }
    }
    return true
  }

  /// Whether Unicode assigns every character of a text.
  ///
  /// - Throws: What else the text breaks.
  private static func isAssigned(_ text: Span<UInt8>) throws(TextFailure) -> Bool {
    var offset = 0
    var isAssigned = true
    while offset < text.count {
      guard let scalar = scalar(in: text, at: &offset) else { throw .rule(.notUTF8) }
      switch utf8proc_category(scalar) {
      case UTF8PROC_CATEGORY_CC: throw .rule(.controlCharacter)
      case UTF8PROC_CATEGORY_CN: isAssigned = false
      default: break
      }
    }
    return isAssigned
  }

  /// The scalar at `offset`, which moves behind it; `nil` when the bytes are not UTF-8 (RFC 3629).
  private static func scalar(in text: Span<UInt8>, at offset: inout Int) -> Int32? {
    let lead = text[offset]
    let (length, least): (Int, Int32)
    var scalar: Int32
    switch lead {
    case 0x00...0x7F: (length, least, scalar) = (1, 0, Int32(lead))
    case 0xC2...0xDF: (length, least, scalar) = (2, 0x80, Int32(lead & 0x1F))
    case 0xE0...0xEF: (length, least, scalar) = (3, 0x800, Int32(lead & 0x0F))
    case 0xF0...0xF4: (length, least, scalar) = (4, 0x10000, Int32(lead & 0x07))
    default: return nil
    }
    guard length <= text.count - offset else { return nil }
    for index in 1..<max(length, 1) {
      let byte = text[offset + index]
      guard byte & 0xC0 == 0x80 else { return nil }
      scalar = scalar << 6 | Int32(byte & 0x3F)
    }
    offset += length
    let isSurrogate = (0xD800...0xDFFF).contains(scalar)
    return scalar >= least && scalar <= 0x10FFFF && !isSurrogate ? scalar : nil
  }
}

// MARK: - Normal form C

extension Text {
  /// The most scalars that one byte of UTF-8 can decompose into: U+1F82 has 3 bytes and 4 scalars,
  /// U+0344 has 2 and 2.
  private static let scalarsPerByte = 2

  private static func compose(
    _ text: Span<UInt8>, mapping: Mapping
  ) throws(TextFailure) -> SecretBytes {
    let capacity = text.count * scalarsPerByte
    var scalars = try secret { () throws(SecureMemoryError) in
      try SecretBytes(count: (capacity + 1) * MemoryLayout<Int32>.size)
    }
    let count = unsafe scalars.withUnsafeMutableBytes { bytes in
      unsafe text.withUnsafeBufferPointer { text in
        unsafe encode(text, scalars: bytes.assumingMemoryBound(to: Int32.self), mapping: mapping)
      }
    }
    guard let count else { throw .rule(.notUTF8) }
    scalars.shrink(to: count)
    return try secret { () throws(SecureMemoryError) in try scalars.copy() }
  }

  /// Decomposes, orders, composes and encodes in place; the number of bytes.
  private static func encode(
    _ text: UnsafeBufferPointer<UInt8>, scalars: UnsafeMutableBufferPointer<Int32>,
    mapping: Mapping
  ) -> Int? {
    guard let start = text.baseAddress, let target = scalars.baseAddress else { return nil }
    let options = utf8proc_option_t(
      rawValue: UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
    let capacity = scalars.count - 1
    let count = unsafe utf8proc_decompose(start, text.count, target, capacity, options)
    guard count >= 0, count <= capacity else { return nil }
    if mapping == .spaces {
      for index in 0..<count where unsafe isSpace(scalars[index]) {
        unsafe scalars[index] = 0x20
      }
    }
    let bytes = unsafe utf8proc_reencode(target, count, options)
    return bytes < 0 ? nil : bytes
  }

  private static func isSpace(_ scalar: Int32) -> Bool {
    utf8proc_category(scalar) == UTF8PROC_CATEGORY_ZS
  }
}
