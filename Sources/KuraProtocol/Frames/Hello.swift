// SPDX-License-Identifier: MIT

public import SecureMemory

/// A client's first frame: which vault its requests are about, and where it can be found.
public struct Hello: Equatable, Sendable {
  /// The version the client speaks.
  public let version: UInt16

  /// Zero in version 1; unknown bits are ignored.
  public let flags: UInt16

  /// The absolute path of the vault: where it stands in the payload.
  public let vault: Range<Int>

  /// The name of the client's terminal, or empty: where it stands in the payload.
  public let terminal: Range<Int>

  /// Reads a hello's payload.
  ///
  /// - Throws: ``ProtocolError/notKura``, or what is wrong with a field.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    guard try reader.number(UInt32.self) == ProtocolVersion.magic else { throw .notKura }
    version = try reader.number()
    flags = try reader.number()
    vault = try reader.field16(limit: ProtocolLimit.path)
    terminal = try reader.field16(limit: ProtocolLimit.terminal)
    try reader.finish()
    guard !vault.isEmpty, payload[vault.lowerBound] == UInt8(ascii: "/") else { throw .fieldValue }
  }
}

/// The agent's first frame.
public struct HelloReply: Equatable, Sendable {
  /// The version the agent will speak on this connection.
  public let version: UInt16

  /// Zero in version 1; unknown bits are ignored.
  public let flags: UInt16

  /// The agent's release, such as `0.1.0`: where it stands in the payload.
  public let release: Range<Int>

  /// Reads a hello reply's payload.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    version = try reader.number()
    flags = try reader.number()
    release = try reader.field16()
    try reader.finish()
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes a client's hello.
  ///
  /// - Parameters:
  ///   - vault: The absolute path of the vault, 1…4,096 bytes.
  ///   - terminal: The name of the terminal, such as `pts/3`; empty for none.
  public mutating func putHello(
    vault: Span<UInt8>, terminal: Span<UInt8>
  ) throws(ProtocolError) {
    let frame = try openFrame(.clientHello)
    try put(ProtocolVersion.magic)
    try put(ProtocolVersion.current)
    try put(UInt16(0))
    try put16(vault, limit: ProtocolLimit.path)
    try put16(terminal, limit: ProtocolLimit.terminal)
    try closeFrame(frame)
  }

  /// Writes an agent's hello.
  public mutating func putHelloReply(
    version: UInt16 = ProtocolVersion.current, release: String
  ) throws(ProtocolError) {
    let frame = try openFrame(.agentHello)
    try put(version)
    try put(UInt16(0))
    try put16(text: release)
    try closeFrame(frame)
  }
}
