// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Says which bytes of a value stand as they are in an address, and how the others are written.
struct PercentRule {
  /// As browsers and libraries do it.
  static let all = [
    PercentRule(kept: .unreserved), PercentRule(kept: .unreserved, isUpper: false),
    PercentRule(kept: .path), PercentRule(kept: .component), PercentRule(kept: .address),
    PercentRule(kept: .form, hasPlus: true), PercentRule(kept: .unreserved, hasPlus: true),
  ]

  /// Names the signs that are kept besides letters, digits and `-._`.
  enum Kept {
    /// `~` (RFC 3986).
    case unreserved
    /// `~/`.
    case path
    /// `~!'()*`, as encodeURIComponent does.
    case component
    /// Those of ``component`` and `;,/?:@&=+$#`, as encodeURI does.
    case address
    /// `*`, as a form is sent.
    case form
  }

  private let kept: Kept
  private let isUpper: Bool
  /// Whether a blank is a plus.
  private let hasPlus: Bool

  private init(kept: Kept, isUpper: Bool = true, hasPlus: Bool = false) {
    self.kept = kept
    self.isUpper = isUpper
    self.hasPlus = hasPlus
  }

  func append(
    _ value: Span<UInt8>, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    for index in value.indices {
      let byte = value[index]
      if keeps(byte) {
        try buffer.append(byte)
      } else if hasPlus, byte == 0x20 {
        try buffer.append(0x2B)
      } else {
        try buffer.append(0x25)
        try buffer.append(hexadecimal: byte, isUpper: isUpper)
      }
    }
  }

  private func keeps(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    case 0x7E: kept.keepsTilde
    case 0x2F: kept.keepsSlash
    case 0x2A: kept.keepsStar
    case 0x21, 0x27, 0x28, 0x29: kept.keepsMarks
    case 0x3B, 0x2C, 0x3F, 0x3A, 0x40, 0x26, 0x3D, 0x2B, 0x24, 0x23: kept.keepsReserved
    default: false
    }
  }
}

extension PercentRule.Kept {
  fileprivate var keepsTilde: Bool { self != .form }
  fileprivate var keepsSlash: Bool { self == .path || self == .address }
  fileprivate var keepsStar: Bool { self == .form || keepsMarks }
  fileprivate var keepsMarks: Bool { self == .component || self == .address }
  fileprivate var keepsReserved: Bool { self == .address }
}

/// Says how a text is written within a string of JSON.
struct JSONRule {
  /// As libraries do it: what must be escaped alone; all beyond ASCII, too; each with the slash, which PHP escapes;
  /// and with the signs of HTML.
  static let all = [
    JSONRule(), JSONRule(isASCII: true), JSONRule(hasSlash: true),
    JSONRule(isASCII: true, hasSlash: true), JSONRule(hasHTML: true),
  ]

  private let isASCII: Bool
  private let hasSlash: Bool
  private let hasHTML: Bool

  private init(isASCII: Bool = false, hasSlash: Bool = false, hasHTML: Bool = false) {
    self.isASCII = isASCII
    self.hasSlash = hasSlash
    self.hasHTML = hasHTML
  }

  /// - Returns: Whether the value is a text; JSON has no other.
  func append(
    _ value: Span<UInt8>, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) -> Bool {
    var scalars = UTF8Scalars(value)
    while let scalar = scalars.next() {
      switch scalar.value {
      case 0x22, 0x5C: try buffer.append(escaped: UInt8(scalar.value))
      case 0x2F where hasSlash: try buffer.append(escaped: 0x2F)
      case 0x08: try buffer.append(escaped: 0x62)
      case 0x0C: try buffer.append(escaped: 0x66)
      case 0x0A: try buffer.append(escaped: 0x6E)
      case 0x0D: try buffer.append(escaped: 0x72)
      case 0x09: try buffer.append(escaped: 0x74)
      case 0..<0x20: try buffer.append(unit: scalar.value)
      case 0x26 where hasHTML, 0x3C where hasHTML, 0x3E where hasHTML, 0x2028 where hasHTML,
        0x2029 where hasHTML:
        try buffer.append(unit: scalar.value)
      case 0x80... where isASCII:
        try buffer.append(units: scalar.value)
      default: try buffer.append(value.extracting(scalar.place))
      }
    }
    return !scalars.isBroken
  }
}

/// Names a way of a shell to quote a value.
enum ShellRule: CaseIterable {
  /// Within `'…'`, a quote as `'\''`.
  case single
  /// Within `'…'`, a quote as `'"'"'`.
  case singleByDouble
  /// Within `"…"`.
  case double
  /// A backslash in front of each sign that means something.
  case backslash
  /// Within `$'…'`.
  case dollar

  func append(
    _ value: Span<UInt8>, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    for index in value.indices {
      let byte = value[index]
      switch self {
      case .single where byte == 0x27: try buffer.append("'\\''")
      case .singleByDouble where byte == 0x27: try buffer.append("'\"'\"'")
      case .single, .singleByDouble: try buffer.append(byte)
      case .double:
        if [0x22, 0x24, 0x5C, 0x60].contains(byte) { try buffer.append(0x5C) }
        try buffer.append(byte)
      case .backslash:
        if ShellRule.isSpecial(byte, isFirst: index == 0) { try buffer.append(0x5C) }
        try buffer.append(byte)
      case .dollar: try ShellRule.append(inDollar: byte, to: &buffer)
      }
    }
  }

  /// As `printf %q` of bash has it.
  private static func isSpecial(_ byte: UInt8, isFirst: Bool) -> Bool {
    switch byte {
    case 0x20...0x22, 0x24, 0x26...0x2A, 0x2C, 0x3B, 0x3C, 0x3E, 0x3F, 0x5B...0x5E, 0x60,
      0x7B...0x7D:
      true
    case 0x23, 0x7E: isFirst
    default: false
    }
  }

  private static func append(
    inDollar byte: UInt8, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    switch byte {
    case 0x27, 0x5C: try buffer.append(escaped: byte)
    case 0x07...0x0D:
      let letters: [7 of UInt8] = [0x61, 0x62, 0x74, 0x6E, 0x76, 0x66, 0x72]
      try buffer.append(escaped: letters[Int(byte) - 7])
    case 0x1B: try buffer.append(escaped: 0x45)
    case 0..<0x20, 0x7F:
      try buffer.append(escaped: 0x30 + byte >> 6)
      try buffer.append(0x30 + byte >> 3 & 7)
      try buffer.append(0x30 + byte & 7)
    default: try buffer.append(byte)
    }
  }
}
