// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

struct FrameTests {
  @Test(arguments: Examples.all)
  func `a frame is there when its last byte is, not before`(_ example: Example) throws {
    for count in 0..<example.bytes.count {
      let part = Array(example.bytes.prefix(count))
      #expect(try Frame.next(in: part.span, sentBy: example.side) == nil)
    }
    let whole = example.bytes + [1, 2, 3]
    let frame = try Frame.next(in: whole.span, sentBy: example.side)
    #expect(frame?.byteCount == example.bytes.count)
    #expect(frame?.payload.upperBound == example.bytes.count)
  }

  @Test(arguments: Examples.all)
  func `a frame is refused from the side that may not send it`(_ example: Example) {
    let other: Side = example.side == .client ? .agent : .client
    #expect(throws: ProtocolError.frameType(example.bytes[4])) {
      try Frame.next(in: example.bytes.span, sentBy: other)
    }
  }

  @Test(arguments: [0, 1_048_577, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
  func `a length of zero or over a mebibyte is refused before anything follows`(
    _ length: UInt32
  ) {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(8 * $0)) }
    #expect(throws: ProtocolError.frameLength(length)) {
      try Frame.next(in: bytes.span, sentBy: .client)
    }
  }

  @Test(arguments: FrameType.allCases)
  func `each type has a limit of its own`(_ type: FrameType) throws {
    for (length, isFine) in [(type.limit, true), (type.limit + 1, false)] {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + [type.rawValue]
      let header = try? FrameHeader(bytes.span, sentBy: type.sender)
      #expect((header != nil) == isFine)
      #expect(header?.byteCount == (isFine ? length + 4 : nil))
    }
  }

  @Test func `an unknown type is refused`() {
    for raw in UInt8.min...UInt8.max where FrameType(rawValue: raw) == nil {
      let bytes: [UInt8] = [1, 0, 0, 0, raw]
      #expect(throws: ProtocolError.frameType(raw)) {
        try Frame.next(in: bytes.span, sentBy: .client)
      }
      #expect(throws: ProtocolError.frameType(raw)) {
        try Frame.next(in: bytes.span, sentBy: .agent)
      }
    }
  }

  @Test func `a chunk over 64 KiB is not written`() throws {
    let chunk = [UInt8](repeating: 7, count: ProtocolLimit.chunk + 1)
    for side in [Side.client, .agent] {
      #expect(throws: ProtocolError.fieldTooLong(limit: ProtocolLimit.chunk)) {
        _ = try written { try $0.putData(chunk.span, from: side) }
      }
      let whole = try written { try $0.putData(Array(chunk.dropLast()).span, from: side) }
      #expect(try payload(whole, sentBy: side) == chunk.dropLast())
    }
  }

  @Test(arguments: [0, 1, ProtocolLimit.chunk])
  func `a chunk becomes a frame where it stands`(count: Int) throws {
    let chunk = [UInt8](repeating: 7, count: count)
    for (side, before) in [(Side.client, Frame.headByteCount), (.agent, 64)] {
      var start = 0
      let all = try written {
        try $0.put([UInt8](repeating: 9, count: before).span)
        try $0.put(chunk.span)
        start = try $0.frameData(from: before, sentBy: side)
      }
      #expect(start == before - Frame.headByteCount)
      #expect(all.prefix(start).allSatisfy { $0 == 9 })
      #expect(Array(all[start...]) == (try written { try $0.putData(chunk.span, from: side) }))
    }
  }

  @Test func `a chunk over 64 KiB does not become a frame`() throws {
    let tooMuch = [UInt8](repeating: 7, count: Frame.headByteCount + ProtocolLimit.chunk + 1)
    #expect(throws: ProtocolError.fieldTooLong(limit: ProtocolLimit.chunk)) {
      _ = try written {
        try $0.put(tooMuch.span)
        _ = try $0.frameData(from: Frame.headByteCount, sentBy: .agent)
      }
    }
  }

  @Test func `frames stand one behind another in a buffer`() throws {
    let both = try written {
      try $0.putHello(vault: "/v".utf8.span, terminal: "".utf8.span)
      try $0.putRequest(.status)
    }
    let first = try #require(try Frame.next(in: both.span, sentBy: .client))
    #expect(first.type == .clientHello)
    let rest = Array(both[first.byteCount...])
    let second = try #require(try Frame.next(in: rest.span, sentBy: .client))
    #expect(second.type == .request)
    #expect(second.byteCount == rest.count)
  }
}
