// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Takes an otpauth URI apart for formats that hold its parts.
struct TimeCode {
  private(set) var period: UInt64 = 30
  private(set) var digits: UInt64 = 6
  private(set) var algorithm = "sha1"
  /// What the label names, no secrets.
  private(set) var account: [UInt8] = []
  private(set) var issuer: [UInt8] = []

  private static let head = Array("otpauth://totp/".utf8)

  /// Reads a URI.
  ///
  /// - Parameter secret: Gets the secret, base32 in capital letters.
  /// - Returns: nil for codes by a counter, and where a part is not as it must be.
  init?(_ uri: Span<UInt8>, _ secret: inout SecretBuffer) throws(CommandError) {
    secret.removeAll()
    guard uri.count > Self.head.count,
      Self.head.indices.allSatisfy({ uri[$0] | 0x20 == Self.head[$0] | 0x20 })
    else { return nil }
    var start = Self.head.count
    while start < uri.count, uri[start] != UInt8(ascii: "?") { start += 1 }
    let label = PassSeed.decoded(uri.extracting(Self.head.count..<start))
    if let colon = label.firstIndex(of: UInt8(ascii: ":")) {
      issuer = Array(label[..<colon])
      account = Array(label[(colon + 1)...].drop { $0 == UInt8(ascii: " ") })
    } else {
      account = label
    }
    while start < uri.count {
      start += 1
      var end = start
      while end < uri.count, uri[end] != UInt8(ascii: "&") { end += 1 }
      guard try read(uri.extracting(min(start, uri.count)..<end), &secret) else { return nil }
      start = end
    }
    guard secret.count > 0, account.isText, issuer.isText else { return nil }
  }

  private mutating func read(
    _ parameter: Span<UInt8>, _ secret: inout SecretBuffer
  ) throws(CommandError) -> Bool {
    var equals = 0
    while equals < parameter.count, parameter[equals] != UInt8(ascii: "=") { equals += 1 }
    guard equals < parameter.count else { return parameter.isEmpty }
    let name = String(
      decoding: Array(copying: parameter.extracting(..<equals)), as: UTF8.self)
    let value = parameter.extracting((equals + 1)...)
    switch name {
    case "secret": return try Self.copy(value, &secret)
    case "period": return Self.take(value, 1...255, &period)
    case "digits": return Self.take(value, 4...10, &digits)
    case "algorithm": return takeAlgorithm(value)
    case "issuer": issuer = PassSeed.decoded(value)
    default: break
    }
    return true
  }

  private static func copy(
    _ value: Span<UInt8>, _ secret: inout SecretBuffer
  ) throws(CommandError) -> Bool {
    guard secret.count == 0 else { return false }
    for index in value.indices {
      let byte = value[index]
      let upper = byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte
      switch upper {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "2")...UInt8(ascii: "7"):
        do throws(SecureMemoryError) { try secret.append(upper) } catch { throw .outOfMemory }
      case UInt8(ascii: "="): continue
      default: return false
      }
    }
    return true
  }

  private static func take(
    _ value: Span<UInt8>, _ range: ClosedRange<UInt64>, _ number: inout UInt64
  ) -> Bool {
    guard let read = Decimal.parse(Array(copying: value)[...]), range.contains(read) else {
      return false
    }
    number = read
    return true
  }

  private mutating func takeAlgorithm(_ value: Span<UInt8>) -> Bool {
    let name = Array(copying: value, limit: 16).map { $0 | 0x20 }
    for known in ["sha1", "sha256", "sha512"] where name.elementsEqual(known.utf8) {
      algorithm = known
      return true
    }
    return false
  }
}

extension [UInt8] {
  fileprivate var isText: Bool { UTF8Scanner.isText(span) }
}
