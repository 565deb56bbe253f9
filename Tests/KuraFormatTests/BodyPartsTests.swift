// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct BodyPartsTests {
  private let vault: VaultID = identifier(1)
  private let item: ItemID = identifier(2)

  private func body(_ value: [UInt8], _ secrets: [UInt8]) -> [UInt8] {
    [6] + little(UInt32(value.count)) + value + secrets
  }

  private func check(
    _ body: [UInt8], _ protection: ProtectionClass = .standard
  ) throws {
    _ = try BodyParts(decoding: body.span, protection)
  }

  @Test func `a body without secret attributes is its value`() throws {
    let plain: [UInt8] = [0, 1, 2]
    let parts = try BodyParts(decoding: plain.span, .standard)
    let (value, count) = (bytes(parts.value), parts.secrets.count)
    #expect(value == plain && count == 0)
    #expect(failure { try check([]) } == .damaged)
  }

  @Test func `secret attributes stand behind the value`() throws {
    let secrets = encoded([("pin", "1234"), ("user", "mo")])
    let expected = body([0, 7, 8], secrets)
    let value: [UInt8] = [0, 7, 8]
    let joined = try BodyParts.join(value.span, secrets.span)
    #expect(bytes(joined.bytes) == expected)
    let parts = try BodyParts(decoding: expected.span, .standard)
    let (first, rest) = (bytes(parts.value), bytes(parts.secrets))
    #expect(first == value && rest == secrets)
    // Of a protected item they would be sealed.
    #expect(failure { try check(expected, .protected) } == .damaged)
  }

  @Test func `what breaks a rule is damage`() {
    let one = encoded([("a", "1")])
    let broken: [[UInt8]] = [
      body([0], encoded([])), body([], one), body([6, 0], one), body([7, 0], one),
      body([0], encoded([("b", ""), ("a", "")])), body([0], encoded([("a", ""), ("a", "")])),
      body([0], encoded([("a=", "")])), body([0], encoded([("a", "\u{0}")])),
      body([0], encoded([("a", String(repeating: "v", count: 65_536))])),
      [6] + little(UInt32.max) + [0] + one, [6] + little(UInt32(9)) + [0] + one,
    ]
    for encoded in broken { #expect(failure { try check(encoded) } == .damaged) }
    #expect(failure { try check(body([0], encoded([("a", longest)]))) } == nil)
    for cut in cuts(body([0, 1], one)) {
      // What is left of the form alone is a body of that form, which no value has.
      #expect(failure { try check(cut) } == .damaged)
    }
  }

  private var longest: String { String(repeating: "v", count: 65_535) }

  private func sealed(
    _ attributes: [(String, String)], to pair: borrowing ProtectedPair, setBy revision: RevisionID
  ) throws -> [UInt8] {
    var buffer = try SecretBuffer(capacity: 64)
    try buffer.append(integer: UInt16(attributes.count))
    for (key, value) in attributes {
      let (key, value) = (Array(key.utf8), Array(value.utf8))
      try SealedAttributes.append(
        key.span, value.span, to: pair.publicHalf, vault: vault, item: item, setBy: revision,
        into: &buffer)
    }
    return bytes(of: buffer.finish())
  }

  @Test func `those of a protected item are sealed one by one`() throws {
    let pair = try ProtectedPair.random()
    let list = try sealed([("pin", "1234"), ("user", "")], to: pair, setBy: identifier(7))
    let encoded = body([4, 1], list)
    let parts = try BodyParts(decoding: encoded.span, .protected)
    let sealed = try SealedAttributes(of: parts)
    let count = sealed.count
    #expect(count == 2)
    var cursor = sealed.makeCursor()
    var isThere = cursor.advance()
    let (pin, size, revision) = (bytes(cursor.key), cursor.size, cursor.revision)
    #expect(isThere && pin == Array("pin".utf8) && size == 4)
    #expect(revision == identifier(7))
    let entry = bytes(cursor.entry)
    #expect(entry.count == 2 + 3 + 16 + 32 + 4 + 72 + 2 + 3 + 4)
    let value = try cursor.open(with: pair, vault: vault, item: item)
    #expect(bytes(value.bytes) == Array("1234".utf8))
    let place = [15] + vault.bytes + item.bytes + [UInt8](repeating: 7, count: 16)
    let key = try pair.openingKey(ephemeral: entry.span.extracting(21..<53))
    let inner = try Seal.open(
      entry.span.extracting(droppingFirst: 57), authenticating: place.span, under: key)
    #expect(bytes(inner.bytes) == little(UInt16(3)) + Array("pin1234".utf8))
    isThere = cursor.advance()
    let empty = cursor.size
    #expect(isThere && empty == 0)
    isThere = cursor.advance()
    #expect(!isThere)
  }

  @Test func `one opens for its own key, revision, item, vault and pair only`() throws {
    let pair = try ProtectedPair.random()
    let other = try ProtectedPair.random()
    let list = try sealed([("pin", "1234")], to: pair, setBy: identifier(7))
    func open(
      _ list: [UInt8], _ pair: borrowing ProtectedPair, _ vault: VaultID, _ item: ItemID
    ) throws {
      let encoded = body([4], list)
      let parts = try BodyParts(decoding: encoded.span, .protected)
      var cursor = try SealedAttributes(of: parts).makeCursor()
      let isThere = cursor.advance()
      #expect(isThere)
      _ = try cursor.open(with: pair, vault: vault, item: item)
    }
    #expect(failure { try open(list, pair, vault, item) } == nil)
    #expect(failure { try open(list, other, vault, item) } == .damaged)
    #expect(failure { try open(list, pair, identifier(9), item) } == .damaged)
    #expect(failure { try open(list, pair, vault, identifier(9)) } == .damaged)
    // The key, then the revision.
    for place in [4, 7] {
      var moved = list
      moved[place] += 1
      #expect(failure { try open(moved, pair, vault, item) } == .damaged, "\(place)")
    }
  }

  @Test func `sealed ones that break a rule are damage`() throws {
    let pair = try ProtectedPair.random()
    let list = try sealed([("a", "1"), ("b", "2")], to: pair, setBy: identifier(7))
    let turned = try sealed([("b", "1"), ("a", "2")], to: pair, setBy: identifier(7))
    #expect(failure { try check(body([4], list), .protected) } == nil)
    #expect(failure { try check(body([4], turned), .protected) } == .damaged)
    for cut in cuts(body([4], list)) {
      #expect(failure { try check(cut, .protected) } == .damaged)
    }
    let half = String(repeating: "v", count: 32_768)
    let much = try sealed([("a", half), ("b", half)], to: pair, setBy: identifier(7))
    #expect(failure { try check(body([4], much), .protected) } == .damaged)
  }
}
