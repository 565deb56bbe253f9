// SPDX-License-Identifier: MIT

/// The answer to `otp`: a code, and what a person has to know of it.
public struct OTPReply: Message, ~Escapable {
  /// Says what moves on from code to code.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// TOTP (RFC 6238).
    case time = 1
    /// HOTP (RFC 4226).
    case counter = 2
  }

  /// Whether time or a counter moves on.
  public private(set) var kind: Kind
  /// The hash that the code was made with.
  public private(set) var algorithm: OTPAlgorithm
  /// The length of a time step, in seconds; 0 for a counter.
  public private(set) var period: UInt32
  /// How long the code is good for, in ms; 0 for a counter.
  public private(set) var left: UInt64
  /// The counter that the code was made with; 0 for a time step.
  public private(set) var counter: UInt64
  /// The code's digits.
  public private(set) var code: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(.time, .sha1, period: 0, left: 0, counter: 0, code: Span()) }

  /// A code as it was made.
  @_lifetime(copy code)
  public init(
    _ kind: Kind, _ algorithm: OTPAlgorithm, period: UInt32, left: UInt64, counter: UInt64,
    code: Span<UInt8>
  ) {
    self.kind = kind
    self.algorithm = algorithm
    self.period = period
    self.left = left
    self.counter = counter
    self.code = Field(code)
  }

  /// Goes over `kind u8, algorithm u8, period u32, left u64, counter u64, code b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&kind)
    try coder.choice(&algorithm)
    try coder.number(&period)
    try coder.number(&left)
    try coder.number(&counter)
    try coder.field16(&code)
  }
}
