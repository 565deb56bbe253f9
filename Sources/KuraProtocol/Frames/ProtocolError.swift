// SPDX-License-Identifier: MIT

/// Says why a message could not be read or written.
public enum ProtocolError: Error, Equatable, Sendable {
  /// A frame's length is zero or over the limit of its type; nothing was read of its body.
  case frameLength(UInt32)

  /// The type byte names no frame that this side may send.
  case frameType(UInt8)

  /// The message ends before its last field does.
  case truncated

  /// Bytes follow the last field.
  case trailingBytes(Int)

  /// A hello does not begin with the magic bytes.
  case notKura

  /// A request names no verb of this version.
  case unknownVerb(UInt8)

  /// A field holds a number that means nothing, or a length over its limit.
  case fieldValue

  /// A field to be written is longer than its limit; the caller checks what people typed.
  case fieldTooLong(limit: Int)

  /// No guarded memory was left for the message.
  case outOfMemory
}
