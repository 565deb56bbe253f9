// SPDX-License-Identifier: MIT

public import SecureMemory

/// The answer to `otp`: a code, and what a person has to know of it.
public struct OTPReply: Equatable, Sendable {
  /// Says what moves on from code to code.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// TOTP (RFC 6238).
    case time = 1
    /// HOTP (RFC 4226).
    case counter = 2
  }

  public let kind: Kind
  public let algorithm: OTPAlgorithm
  /// The length of a time step, in seconds; 0 for a counter.
  public let period: UInt32
  /// How long the code is good for, in ms; 0 for a counter.
  public let left: UInt64
  /// The counter that the code was made with; 0 for a time step.
  public let counter: UInt64
  /// The code's digits: where they stand in the payload.
  public let code: Range<Int>

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    guard let kind = Kind(rawValue: try reader.number()),
      let algorithm = OTPAlgorithm(rawValue: try reader.number())
    else { throw .fieldValue }
    self.kind = kind
    self.algorithm = algorithm
    period = try reader.number()
    left = try reader.number()
    counter = try reader.number()
    code = try reader.field16()
    try reader.finish()
  }
}

extension SecretBuffer {
  /// Writes `otp`.
  public mutating func putOTP(name: Span<UInt8>) throws(ProtocolError) {
    let frame = try openRequest(.otp)
    try put16(name)
    try closeFrame(frame)
  }

  /// Answers `otp`.
  public mutating func putOTPReply(
    _ kind: OTPReply.Kind, _ algorithm: OTPAlgorithm, period: UInt32, left: UInt64,
    counter: UInt64, code: Span<UInt8>
  ) throws(ProtocolError) {
    let frame = try openReply()
    try put(kind.rawValue)
    try put(algorithm.rawValue)
    try put(period)
    try put(left)
    try put(counter)
    try put16(code)
    try closeFrame(frame)
  }
}
