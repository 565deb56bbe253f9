// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

/// Holds a one-time code; wiped when dropped.
public struct OneTimeCode: ~Copyable {
  /// The code's digits.
  public let text: SecretBytes
  /// What it counts: time steps, or its uses.
  public let kind: OTPReply.Kind
  /// The hash function that it was made with.
  public let algorithm: OTPAlgorithm
  /// The length of a time step, in seconds; 0 for a counter.
  public let period: UInt32
  /// How long it is good for, in ms; 0 for a counter.
  public let left: UInt64
  /// The counter that it was made with; 0 for a time step.
  public let counter: UInt64
}

extension Connection {
  /// Has the agent make the code that an item gives now; its seed is not sent. A counter has moved on
  /// when this returns.
  public mutating func oneTimeCode(of name: String) throws(ClientError) -> OneTimeCode {
    try send(.otp(NameRequest(name: name.utf8.span)))
    let reply: OTPReply = try replied(received(try answer()))
    let text = try allocating { () throws(SecureMemoryError) in
      try SecretBytes(copying: reply.code.bytes)
    }
    return OneTimeCode(
      text: text, kind: reply.kind, algorithm: reply.algorithm, period: reply.period,
      left: reply.left, counter: reply.counter)
  }

  /// The same, when only the code's digits are wanted.
  public mutating func appendOneTimeCode(
    of name: String, to buffer: inout SecretBuffer
  ) throws(ClientError) {
    try send(.otp(NameRequest(name: name.utf8.span)))
    let reply: OTPReply = try replied(received(try answer()))
    try allocating { () throws(SecureMemoryError) in try buffer.append(reply.code.bytes) }
  }
}
