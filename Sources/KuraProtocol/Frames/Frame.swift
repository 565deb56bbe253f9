// SPDX-License-Identifier: MIT

public import SecureMemory

/// Finds one whole frame in a buffer of received bytes.
public struct Frame: Equatable, Sendable {
  /// The bytes before a frame's type: its length.
  public static let prefix = 4

  /// The bytes before a frame's payload: length and type.
  public static let headByteCount = prefix + 1

  /// What it holds.
  public let type: FrameType

  /// Its fields: positions in the bytes that ``next(in:sentBy:)`` was given.
  public let payload: Range<Int>

  /// All of its bytes, length and type included: what to take off the buffer afterwards.
  public var byteCount: Int { payload.upperBound }

  /// The frame that stands at the beginning of `bytes`.
  ///
  /// Length and type are judged as soon as they are there, before the body is waited for.
  ///
  /// - Parameters:
  ///   - bytes: What was received and not yet taken.
  ///   - side: Who sent it.
  /// - Returns: The frame, or nil while bytes of it are missing.
  /// - Throws: ``ProtocolError/frameLength(_:)``, ``ProtocolError/frameType(_:)``; the
  ///   connection is of no further use.
  public static func next(in bytes: Span<UInt8>, sentBy side: Side) throws(ProtocolError) -> Frame?
  {
    guard let header = try FrameHeader(bytes, sentBy: side) else { return nil }
    guard bytes.count - prefix >= header.bodyCount else { return nil }
    return Frame(type: header.type, payload: (prefix + 1)..<(prefix + header.bodyCount))
  }
}

/// The length and type of a frame whose body may still be on its way.
public struct FrameHeader: Equatable, Sendable {
  /// What the frame holds.
  public let type: FrameType

  /// The bytes after the length: type and payload; 1…1,048,576.
  public let bodyCount: Int

  /// All bytes of the frame.
  public var byteCount: Int { Frame.prefix + bodyCount }

  /// Reads the first five bytes of a frame; nil while one is missing.
  ///
  /// - Throws: ``ProtocolError/frameLength(_:)``, ``ProtocolError/frameType(_:)``.
  public init?(_ bytes: Span<UInt8>, sentBy side: Side) throws(ProtocolError) {
    guard bytes.count >= Frame.prefix else { return nil }
    var length: UInt32 = 0
    for index in 0..<Frame.prefix { length |= UInt32(bytes[index]) << (8 * UInt32(index)) }
    guard length >= 1, length <= UInt32(ProtocolLimit.frame) else { throw .frameLength(length) }
    guard bytes.count > Frame.prefix else { return nil }
    let raw = bytes[Frame.prefix]
    guard let type = FrameType(rawValue: raw), type.sender == side else { throw .frameType(raw) }
    guard Int(length) <= type.limit else { throw .frameLength(length) }
    self.type = type
    bodyCount = Int(length)
  }
}

/// A frame that is being written into a buffer: where its length stands.
public struct OpenFrame: Sendable {
  let start: Int
}

// MARK: - Writing

extension SecretBuffer {
  /// Begins a frame; its length is filled in by ``closeFrame(_:)``.
  public mutating func openFrame(_ type: FrameType) throws(ProtocolError) -> OpenFrame {
    let frame = OpenFrame(start: count)
    try put(UInt32(0))
    try put(type.rawValue)
    return frame
  }

  /// Ends the frame that was begun last.
  ///
  /// - Throws: ``ProtocolError/frameLength(_:)`` when it became too long: the buffer is then of
  ///   no use.
  public mutating func closeFrame(_ frame: OpenFrame) throws(ProtocolError) {
    let length = count - frame.start - Frame.prefix
    guard length <= ProtocolLimit.frame else {
      throw .frameLength(UInt32(truncatingIfNeeded: length))
    }
    overwrite(integer: UInt32(length), at: frame.start)
  }

  /// Writes a whole data frame, in either direction.
  ///
  /// - Parameter chunk: At most ``ProtocolLimit/chunk`` bytes of a value.
  public mutating func putData(_ chunk: Span<UInt8>, from side: Side) throws(ProtocolError) {
    guard chunk.count <= ProtocolLimit.chunk else {
      throw .fieldTooLong(limit: ProtocolLimit.chunk)
    }
    let frame = try openFrame(side == .client ? .clientData : .data)
    try put(chunk)
    try closeFrame(frame)
  }

  /// Makes a data frame of a part of a value that stands at the end of the buffer, where it is: the
  /// frame's head goes right before it.
  ///
  /// - Parameters:
  ///   - start: Where the part begins, at least ``Frame/headByteCount``; it has at most
  ///     ``ProtocolLimit/chunk`` bytes.
  ///   - side: Who sends it.
  /// - Returns: Where the frame begins, which ends with the buffer.
  public mutating func frameData(from start: Int, sentBy side: Side) throws(ProtocolError) -> Int {
    precondition(start >= Frame.headByteCount && start <= count, "no room for a head")
    guard count - start <= ProtocolLimit.chunk else {
      throw .fieldTooLong(limit: ProtocolLimit.chunk)
    }
    let type: FrameType = side == .client ? .clientData : .data
    overwrite(integer: UInt32(count - start + 1), at: start - Frame.headByteCount)
    overwrite(integer: type.rawValue, at: start - 1)
    return start - Frame.headByteCount
  }
}
