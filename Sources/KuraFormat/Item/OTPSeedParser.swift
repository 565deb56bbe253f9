// SPDX-License-Identifier: MIT

internal import SecureMemory

extension OTPSeed {
  /// Reads an otpauth URI: `otpauth://TYPE/LABEL?PARAMETERS`.
  ///
  /// What is not known is passed over, as other programs add their own parameters; what is known must
  /// be right.
  ///
  /// - Parameter uri: Only borrowed.
  /// - Throws: ``FormatError/otpInvalid(_:)``, ``FormatError/outOfMemory``.
  public init(uri: Span<UInt8>) throws(FormatError) {
    guard uri.count <= OTPSeed.longest else { throw .otpInvalid(.tooLong) }
    var parser = OTPSeedParser()
    try parser.read(uri)
    self = try parser.finish()
  }
}

/// Reads an otpauth URI part by part, and holds what was read so far.
private struct OTPSeedParser: ~Copyable {
  private var isCounting = false
  private var secret: SecretBytes?
  private var digits: UInt8?
  private var algorithm: OTPAlgorithm?
  private var period: UInt32?
  private var counter: UInt64?
  private var counterField = 0..<0
  private var hasIssuer = false

  mutating func read(_ uri: Span<UInt8>) throws(FormatError) {
    let scheme = "otpauth://".utf8.count
    guard uri.count >= scheme, uri.isText("otpauth://", in: 0..<scheme) else {
      throw .otpInvalid(.scheme)
    }
    let type = scheme..<uri.end(of: scheme, before: "/")
    isCounting = uri.isText("hotp", in: type)
    guard isCounting || uri.isText("totp", in: type) else { throw .otpInvalid(.kind) }
    let label = min(type.upperBound + 1, uri.count)
    let labelEnd = uri.end(of: label, before: "?")
    try checkText(uri.extracting(label..<labelEnd))
    var next = labelEnd + 1
    while next < uri.count {
      let end = uri.end(of: next, before: "&")
      try read(parameter: next..<end, of: uri)
      next = end + 1
    }
  }

  consuming func finish() throws(FormatError) -> OTPSeed {
    guard let secret = secret.take() else { throw .otpInvalid(.secretMissing) }
    let factor: OTPSeed.Factor
    if isCounting {
      guard let counter else { throw .otpInvalid(.counterMissing) }
      factor = .counter(counter)
    } else {
      factor = .time(period: period ?? 30)
    }
    return OTPSeed(
      factor, digits: digits ?? 6, algorithm ?? .sha1, secret: secret, counterField: counterField)
  }

  private mutating func read(
    parameter field: Range<Int>, of uri: Span<UInt8>
  ) throws(FormatError) {
    let nameEnd = min(uri.end(of: field.lowerBound, before: "="), field.upperBound)
    let name = field.lowerBound..<nameEnd
    let place = min(nameEnd + 1, field.upperBound)..<field.upperBound
    if uri.isText("secret", in: name) {
      guard secret == nil else { throw .otpInvalid(.repeated) }
      secret = try decodedSecret(uri.extracting(place))
    } else if uri.isText("algorithm", in: name) {
      try Self.set(&algorithm, try Self.readAlgorithm(uri, place))
    } else if uri.isText("digits", in: name) {
      let number = try Self.number(uri, place, 6...8, orElse: .digits)
      try Self.set(&digits, UInt8(number))
    } else if uri.isText("period", in: name) {
      let range = 1...UInt64(OTPSeed.longestPeriod)
      try Self.set(&period, UInt32(try Self.number(uri, place, range, orElse: .period)))
    } else if uri.isText("counter", in: name) {
      try Self.set(&counter, try Self.number(uri, place, 0...UInt64.max, orElse: .counter))
      counterField = place
    } else if uri.isText("issuer", in: name) {
      guard !hasIssuer else { throw .otpInvalid(.repeated) }
      hasIssuer = true
      try checkText(uri.extracting(place))
    }
  }

  private static func set<Value>(_ slot: inout Value?, _ value: Value) throws(FormatError) {
    guard slot == nil else { throw .otpInvalid(.repeated) }
    slot = value
  }
}

// MARK: - Parameters

extension OTPSeedParser {
  private static func readAlgorithm(
    _ uri: Span<UInt8>, _ field: Range<Int>
  ) throws(FormatError) -> OTPAlgorithm {
    if uri.isText("SHA1", in: field) { return .sha1 }
    if uri.isText("SHA256", in: field) { return .sha256 }
    if uri.isText("SHA512", in: field) { return .sha512 }
    throw .otpInvalid(.algorithm)
  }

  private static func number(
    _ uri: Span<UInt8>, _ field: Range<Int>, _ range: ClosedRange<UInt64>, orElse rule: OTPRule
  ) throws(FormatError) -> UInt64 {
    var number: UInt64 = 0
    for index in field {
      let digit = uri[index]
      guard (0x30...0x39).contains(digit) else { throw .otpInvalid(rule) }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isStill) = product.addingReportingOverflow(UInt64(digit - 0x30))
      guard !isTooLarge, !isStill else { throw .otpInvalid(rule) }
      number = sum
    }
    guard !field.isEmpty, range.contains(number) else { throw .otpInvalid(rule) }
    return number
  }

  /// Base32 (RFC 4648), letters of either case, with its padding or without.
  private func decodedSecret(_ text: Span<UInt8>) throws(FormatError) -> SecretBytes {
    let characters = try decoded(text)
    var count = characters.count
    while count > 0, characters.bytes[count - 1] == UInt8(ascii: "=") { count -= 1 }
    let hasPadding = count < characters.count
    // One, three or six characters more than a group of eight are no whole bytes.
    guard count > 0, !hasPadding || characters.count % 8 == 0, characters.count - count < 7,
      ![1, 3, 6].contains(count % 8)
    else { throw .otpInvalid(.secret) }
    var result = try SecretBytes.allocate(count * 5 / 8)
    var target = result.mutableBytes
    let bytes = characters.bytes
    var (bits, bitCount, next): (UInt32, Int, Int) = (0, 0, 0)
    for index in 0..<count {
      guard let value = Self.base32Value(bytes[index]) else { throw .otpInvalid(.secret) }
      bits = (bits << 5 | value) & 0x1FFF
      bitCount += 5
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      target[next] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
      next += 1
    }
    return result
  }

  private static func base32Value(_ character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5A: UInt32(character - 0x41)
    case 0x61...0x7A: UInt32(character - 0x61)
    case 0x32...0x37: UInt32(character - 0x32) + 26
    default: nil
    }
  }

  /// Makes sure that percent-encoded text is UTF-8.
  private func checkText(_ text: Span<UInt8>) throws(FormatError) {
    let plain = try decoded(text)
    guard Text.isUTF8(plain.bytes) else { throw .otpInvalid(.text) }
  }

  private func decoded(_ text: Span<UInt8>) throws(FormatError) -> SecretBytes {
    var result = try SecretBytes.allocate(text.count)
    var (index, count) = (0, 0)
    while index < text.count {
      var byte = text[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < text.count, let high = Self.hexValue(text[index + 1]),
          let low = Self.hexValue(text[index + 2])
        else { throw .otpInvalid(.text) }
        byte = high << 4 | low
        index += 2
      }
      let one: InlineArray<1, UInt8> = [byte]
      result.overwrite(at: count, with: one.span)
      (index, count) = (index + 1, count + 1)
    }
    result.shrink(to: count)
    return result
  }

  private static func hexValue(_ character: UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: character - 0x30
    case 0x41...0x46: character - 0x41 + 10
    case 0x61...0x66: character - 0x61 + 10
    default: nil
    }
  }
}

extension Span<UInt8> {
  /// Where the first of these signs stands from a place on, or the end.
  fileprivate func end(of start: Int, before sign: Unicode.Scalar) -> Int {
    var index = start
    while index < count, self[index] != UInt8(truncatingIfNeeded: sign.value) { index += 1 }
    return index
  }

  /// Whether a part is that word; letters of ASCII match in either case.
  fileprivate func isText(_ word: String, in field: Range<Int>) -> Bool {
    guard field.count == word.utf8.count else { return false }
    for (index, other) in zip(field, word.utf8)
    where self[index].lowercased != other.lowercased {
      return false
    }
    return true
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 32 : self }
}
