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
    try send { output throws(ProtocolError) in try output.putOTP(name: name.utf8.span) }
    let payload = received(try answer())
    let reply = try reading { () throws(ProtocolError) in try OTPReply(payload) }
    let text = try allocating { () throws(SecureMemoryError) in
      try SecretBytes(copying: payload.extracting(reply.code))
    }
    return OneTimeCode(
      text: text, kind: reply.kind, algorithm: reply.algorithm, period: reply.period,
      left: reply.left, counter: reply.counter)
  }

  /// The same, when only the code's digits are wanted.
  public mutating func appendOneTimeCode(
    of name: String, to buffer: inout SecretBuffer
  ) throws(ClientError) {
    try send { output throws(ProtocolError) in try output.putOTP(name: name.utf8.span) }
    let payload = received(try answer())
    let reply = try reading { () throws(ProtocolError) in try OTPReply(payload) }
    try allocating { () throws(SecureMemoryError) in
      try buffer.append(payload.extracting(reply.code))
    }
  }
}
