// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What comes from the other side may have been written by anybody.
struct HostileInputTests {
  /// Their payload is the value itself, or nothing: any length of it is right.
  private static let anyLength = ["data, from the client", "data, from the agent"]
  /// They hold nothing, or numbers of which each is right.
  private static let anyByte = [
    "confirm", "reply: done", "reply to unlock", "reply to put", "reply to attributes", "progress",
    "end", "reply to grant", "reply to grant-revoke",
  ]
  private static let structured = Examples.all.filter { !anyLength.contains($0.label) }

  @Test(arguments: structured)
  func `every truncation of a message is refused`(_ example: Example) throws {
    let payload = try payload(example.bytes, sentBy: example.side)
    #expect(throws: Never.self) { try example.read(payload.span) }
    for count in 0..<payload.count {
      let part = Array(payload.prefix(count))
      #expect(throws: ProtocolError.self) { try example.read(part.span) }
    }
  }

  @Test(arguments: structured.filter { $0.label != "confirm" })
  func `a byte behind a message is refused`(_ example: Example) throws {
    let longer = try payload(example.bytes, sentBy: example.side) + [0]
    #expect(throws: ProtocolError.self) { try example.read(longer.span) }
  }

  @Test(arguments: structured)
  func `no byte changed in a message makes a reader trap`(_ example: Example) throws {
    let payload = try payload(example.bytes, sentBy: example.side)
    var refused = 0
    for index in payload.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8] {
        var changed = payload
        changed[index] = value
        do { try example.read(changed.span) } catch { refused += 1 }
      }
    }
    #expect((refused == 0) == Self.anyByte.contains(example.label))
  }

  @Test(arguments: structured)
  func `no random bytes make a reader trap`(_ example: Example) throws {
    var refused = 0
    var random = SplitMix(state: UInt64(example.bytes.count))
    for _ in 0..<2_000 {
      let count = Int.random(in: 0..<96, using: &random)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...4, using: &random) }
      if count > 0, Bool.random(using: &random) {
        bytes[0] = UInt8.random(in: 0...18, using: &random)
      }
      do { try example.read(bytes.span) } catch { refused += 1 }
    }
    #expect((refused == 0) == (example.label == "confirm"))
  }

  @Test func `a count without its entries is refused`() {
    let claimed: [UInt8] = [0xFF, 0xFF]
    #expect(throws: ProtocolError.truncated) { _ = try EntryBatch(claimed.span) }
    #expect(throws: ProtocolError.truncated) { try FindingBatch(claimed.span) }
  }

  @Test func `too many attributes are refused before they are read`() {
    let bytes: [UInt8] =
      [UInt8(Verb.put.rawValue), 0] + [UInt8](repeating: 0, count: 8)
      + [1, 0, 0x61] + [0x01, 0x04]
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(bytes.span) }
  }

  @Test func `more than a list may have is refused before it is read`() {
    let name: [UInt8] = [1, 0, 0x61]
    let keys: [UInt8] =
      [Verb.attributes.rawValue] + [UInt8](repeating: 0, count: 8) + name + [0, 0]
      + [0x01, 0x04]
    let most = UInt16(ProtocolLimit.batch + 1)
    let batch = [Verb.putBatch.rawValue, 0, UInt8(most & 0xFF), UInt8(most >> 8)]
    for bytes in [keys, batch] {
      #expect(throws: ProtocolError.fieldValue) { _ = try Request(bytes.span) }
    }
  }

  @Test func `fields that contradict each other are refused`() {
    let rest = [UInt8](repeating: 0, count: 7)
    func purge(_ scope: UInt8, _ revision: UInt8) -> [UInt8] {
      [Verb.purge.rawValue, scope, revision] + rest + [1, 0, 0x61, 0]
    }
    func config(_ operation: UInt8, _ key: UInt8, _ value: UInt8) -> [UInt8] {
      [Verb.config.rawValue, operation, key, value] + rest + (operation == 2 ? [0] : [])
    }
    for bytes in [
      purge(0, 0), purge(1, 0), purge(2, 1), config(0, 0, 0), config(1, 1, 0), config(2, 1, 9),
    ] {
      #expect(throws: Never.self) { _ = try Request(bytes.span) }
    }
    for bytes in [
      purge(0, 1), purge(1, 1), purge(2, 0), config(0, 1, 0), config(0, 0, 1), config(1, 1, 9),
    ] {
      #expect(throws: ProtocolError.fieldValue) { _ = try Request(bytes.span) }
    }
    // Only a `set` may carry a word, even the one that says that there is none.
    let wordy = config(1, 1, 0) + [0]
    #expect(throws: ProtocolError.trailingBytes(1)) { _ = try Request(wordy.span) }
  }

  @Test func `an inline value over 64 KiB is neither written nor read`() throws {
    let value = [UInt8](repeating: 1, count: ProtocolLimit.inlineValue + 1)
    func put(_ value: [UInt8]) throws -> [UInt8] {
      try written {
        try $0.putRequest(.put(.init(name: "a".utf8.span, value: value.span)))
      }
    }
    #expect(throws: ProtocolError.self) { try put(value) }
    var largest = try payload(put(value.dropLast()), sentBy: .client)
    #expect(throws: Never.self) { _ = try Request(largest.span) }
    let length = largest.count - value.count + 1 - 4
    largest[length] = 1
    largest.append(1)
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(largest.span) }
  }

  @Test func `an unknown verb is named`() {
    for raw in [0, 27, 99, 255] as [UInt8] {
      #expect(throws: ProtocolError.unknownVerb(raw)) { _ = try Request([raw].span) }
    }
  }

  @Test func `an unknown flag is refused`() throws {
    var lists = try payload(
      try written {
        try $0.putRequest(
          .list(
            .init(
              flags: [], prefix: "".utf8.span, filterKey: "".utf8.span, filterValue: "".utf8.span,
              text: "".utf8.span)))
      }, sentBy: .client)
    lists[1] = 4
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(lists.span) }
  }

  @Test func `a hello of another program or with a relative path is refused`() throws {
    var other = try payload(Examples.all[0].bytes, sentBy: .client)
    other[0] = 0x6B
    #expect(throws: ProtocolError.notKura) { try Hello(other.span) }
    for path in ["v", ""] {
      let bytes = try written { try $0.putHello(vault: path.utf8.span, terminal: "".utf8.span) }
      let hello = try payload(bytes, sentBy: .client)
      #expect(throws: ProtocolError.fieldValue) { try Hello(hello.span) }
    }
  }

  @Test func `a hello of a later version is still read`() throws {
    var later = try payload(Examples.all[0].bytes, sentBy: .client)
    later[4] = 9
    later[6] = 0xFF
    let hello = try Hello(later.span)
    #expect(hello.version == 9)
    #expect(!ProtocolVersion.isSpoken(hello.version))
    #expect(ProtocolVersion.isSpoken(ProtocolVersion.current))
  }
}

/// A generator whose numbers are the same in each run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
