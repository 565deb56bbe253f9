// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import SecureMemory

/// Makes one-time codes out of an otpauth URI: HOTP (RFC 4226) or TOTP (RFC 6238).
public struct OTPSeed: ~Copyable, Sendable {
  /// Says what moves on from code to code: a counter, or time.
  public enum Factor: Equatable, Sendable {
    /// The time: a step has so many seconds.
    case time(period: UInt32)
    /// A counter: the next to be used.
    case counter(UInt64)
  }

  /// The longest URI, in bytes.
  public static let longest = 4_096
  /// The longest time step, in seconds.
  public static let longestPeriod: UInt32 = 86_400

  /// What moves on.
  public let factor: Factor
  /// How many digits a code has: 6, 7 or 8.
  public let digits: UInt8
  /// What codes are made with.
  public let algorithm: OTPAlgorithm

  private let secret: SecretBytes
  /// Where the counter's number stands in the URI.
  let counterField: Range<Int>

  init(
    _ factor: Factor, digits: UInt8, _ algorithm: OTPAlgorithm, secret: consuming SecretBytes,
    counterField: Range<Int>
  ) {
    self.factor = factor
    self.digits = digits
    self.algorithm = algorithm
    self.secret = secret
    self.counterField = counterField
  }
}

// MARK: - Codes

extension OTPSeed {
  /// The code of a counter, or of a time step: ASCII digits.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func code(_ counter: UInt64) throws(FormatError) -> SecretBytes {
    var message: InlineArray<8, UInt8> = .init(repeating: 0)
    for index in 0..<8 {
      message[index] = UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index))
    }
    let hash: SecretBytes
    do throws(CryptoError) { hash = try algorithm.code.make(message.span, key: secret.bytes) } catch
    {
      throw .outOfMemory
    }
    // RFC 4226 §5.3.
    let bytes = hash.bytes
    let offset = Int(bytes[bytes.count - 1] & 0x0F)
    var number = UInt32(bytes[offset] & 0x7F)
    for index in 1..<4 { number = number << 8 | UInt32(bytes[offset + index]) }
    var text = try SecretBytes.allocate(Int(digits))
    var target = text.mutableBytes
    for index in (0..<Int(digits)).reversed() {
      target[index] = UInt8(ascii: "0") + UInt8(number % 10)
      number /= 10
    }
    return text
  }

  /// The URI with another counter.
  ///
  /// - Parameter uri: The one that the seed was read from.
  /// - Throws: ``FormatError/outOfMemory``.
  public borrowing func uri(
    _ uri: Span<UInt8>, withCounter counter: UInt64
  ) throws(FormatError) -> SecretBytes {
    let number = Array("\(counter)".utf8)
    let tail = uri.extracting(counterField.upperBound..<uri.count)
    let count = counterField.lowerBound + number.count + tail.count
    var result = try SecretBytes.allocate(count)
    result.overwrite(at: 0, with: uri.extracting(0..<counterField.lowerBound))
    result.overwrite(at: counterField.lowerBound, with: number.span)
    result.overwrite(at: counterField.lowerBound + number.count, with: tail)
    return result
  }
}

extension OTPAlgorithm {
  var code: MessageCode {
    switch self {
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha512: .sha512
    }
  }
}
