// SPDX-License-Identifier: MIT

/// Tells how far long work has come.
public struct ProgressReport: Equatable, Sendable {
  /// How much is done, in a unit of the work's own.
  public let done: UInt64
  /// Zero while it is not known.
  public let total: UInt64

  /// Work that is so far.
  public init(done: UInt64, total: UInt64) { (self.done, self.total) = (done, total) }

  /// Reads the payload of a frame of type ``FrameType/progress``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    done = try reader.number()
    total = try reader.number()
    try reader.finish()
  }
}

/// The findings of one data frame of `verify`, checked to be whole.
public struct FindingBatch: Equatable, Sendable {
  /// How many there are.
  public let count: Int

  /// Checks a data frame's payload from its first byte to its last.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    count = Int(try reader.number(UInt16.self))
    for _ in 0..<count { _ = try Self.next(&reader) }
    try reader.finish()
  }

  /// Calls `body` with each finding and where it was made, in the order of the message.
  ///
  /// - Parameter payload: The bytes that the batch was read from.
  public func forEach<Failure: Error>(
    in payload: Span<UInt8>, _ body: (FindingKind, Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    var reader = FieldReader(payload, from: 2)
    for _ in 0..<count {
      guard let (finding, place) = try? Self.next(&reader) else {
        preconditionFailure("another batch's bytes")
      }
      try body(finding, payload.extracting(place))
    }
  }

  private static func next(
    _ reader: inout FieldReader
  ) throws(ProtocolError) -> (FindingKind, Range<Int>) {
    guard let finding = FindingKind(rawValue: try reader.number()) else { throw .fieldValue }
    return (finding, try reader.field16())
  }
}
