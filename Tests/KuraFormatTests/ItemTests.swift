// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct ItemMetaTests {
  private let name = Array("com.example.juice/userIdentifier".utf8)

  private func encode(
    name: [UInt8], attributes: [(String, String)] = [("a", "1"), ("b", "")], size: UInt64 = 44
  ) -> [UInt8] {
    [1] + little(UInt64(10)) + little(UInt64(11)) + little(size) + little(UInt16(name.count))
      + name + encoded(attributes)
  }

  @Test func `a meta is layout, times, size, name, attributes`() throws {
    let sent = encoded([("b", ""), ("a", "1")])
    let attributes = try Attributes(unsorted: sent.span)
    let meta = try ItemMeta(
      name: name.span, created: 10, modified: 11, size: 44, attributes: attributes.list)
    #expect(bytes(meta.encoded) == encode(name: name))
  }

  @Test func `a meta is read in place`() throws {
    let meta = try ItemMeta.decode(try secret(encode(name: name)))
    #expect(meta.created == 10)
    #expect(meta.modified == 11)
    #expect(meta.size == 44)
    #expect(bytes(meta.name) == name)
    #expect(pairs(meta.attributes) == ["a=1", "b="])
  }

  @Test func `a name of a later Unicode is read as it stands`() throws {
    let later = Array("a\u{378}e\u{301}".utf8)
    let meta = try ItemMeta.decode(try secret(encode(name: later)))
    #expect(bytes(meta.name) == later)
    #expect(failure { _ = try ItemName(later.span) } == .nameInvalid(.unassigned))
    let control = encode(name: Array("a\u{378}\u{7}".utf8))
    #expect(failure { _ = try ItemMeta.decode(secret(control)) } == .damaged)
  }

  @Test func `what breaks a rule is damage`() {
    let broken: [[UInt8]] = [
      [], [2] + encode(name: name).dropFirst(), encode(name: []), encode(name: Array("a//b".utf8)),
      encode(name: Array("cafe\u{301}".utf8)), encode(name: [0xFF]),
      encode(name: [UInt8](repeating: 97, count: 1025)),
      encode(name: name, attributes: [("b", ""), ("a", "")]),
      encode(name: name, attributes: [("a", ""), ("a", "")]),
      encode(name: name, attributes: [("", "")]), encode(name: name, attributes: [("a=", "")]),
      encode(name: name, attributes: [("e\u{301}", "")]),
      encode(name: name, attributes: [("a", "\u{0}")]),
      encode(name: name, attributes: (100..<357).map { ("\($0)", "") }),
      encode(name: name, size: (1 << 40) + 1),
      encode(name: name, attributes: [("a", String(repeating: "v", count: 65_536))]),
    ]
    for encoded in broken {
      #expect(failure { _ = try ItemMeta.decode(secret(encoded)) } == .damaged)
    }
    for cut in cuts(encode(name: name)) {
      #expect(failure { _ = try ItemMeta.decode(secret(cut)) } == .damaged)
    }
  }

  @Test func `more than 64 KiB of name and attributes are refused`() throws {
    let value = String(repeating: "v", count: 65_536 - 27 - name.count - 9)
    let (fits, exceeds) = (encoded([("k", value)]), encoded([("k", value + "v")]))
    let small = try Attributes(unsorted: fits.span)
    let large = try Attributes(unsorted: exceeds.span)
    let meta = try ItemMeta(
      name: name.span, created: 1, modified: 1, size: 1, attributes: small.list)
    #expect(meta.encoded.count == 65_536)
    let refused = failure {
      _ = try ItemMeta(name: name.span, created: 1, modified: 1, size: 1, attributes: large.list)
    }
    #expect(refused == .attributesInvalid(.tooLarge))
  }

  @Test func `mutated metas are refused or read, never a trap`() {
    for changed in Mutations(of: encode(name: name), count: 20_000) {
      _ = failure {
        let meta = try ItemMeta.decode(secret(changed))
        #expect(pairs(meta.attributes).count == meta.attributes.count)
      }
    }
  }
}

@Suite struct ItemBodyTests {
  private let key = [UInt8](repeating: 6, count: 32)

  private func manifest(length: UInt64, count: UInt64) -> [UInt8] {
    [1] + little(length) + little(count) + [UInt8](repeating: 5, count: 16) + key
  }

  @Test(arguments: [0, 1, 65_536])
  func `a short value stands behind form 0`(count: Int) throws {
    let value = [UInt8](repeating: 7, count: count)
    let encoded = bytes(of: try ItemBody.encode(inline: value.span))
    #expect(encoded == [0] + value)
    guard case .inline(let decoded) = try ItemBody.decode(try secret(encoded)) else {
      Issue.record("a short value is not chunked")
      return
    }
    #expect(bytes(decoded.bytes) == value)
  }

  @Test func `a long value has a manifest behind form 1`() throws {
    let source = Manifest(
      length: 131_073, value: identifier(5), key: Key(try secret(key)))
    let encoded = bytes(of: try ItemBody.encode(source))
    #expect(encoded == manifest(length: 131_073, count: 3))
    guard case .chunked(let decoded) = try ItemBody.decode(try secret(encoded)) else {
      Issue.record("a long value is chunked")
      return
    }
    #expect(decoded.length == 131_073)
    #expect(decoded.value == identifier(5))
    #expect(bytes(decoded.key.bytes) == key)
    #expect((0..<decoded.chunkCount).map { decoded.byteCount(ofChunk: $0) } == [65_536, 65_536, 1])
  }

  @Test func `what breaks the layout is damage`() {
    let broken: [[UInt8]] = [
      [], [2], [0] + [UInt8](repeating: 0, count: 65_537), manifest(length: 0, count: 0),
      manifest(length: 65_536, count: 1), manifest(length: 65_537, count: 1),
      manifest(length: 65_537, count: 3), manifest(length: .max, count: 1 << 48),
      manifest(length: (1 << 40) + 1, count: (1 << 24) + 1),
    ]
    for encoded in broken {
      #expect(failure { _ = try ItemBody.decode(secret(encoded)) } == .damaged)
    }
    for cut in cuts(manifest(length: 131_072, count: 2)) {
      #expect(failure { _ = try ItemBody.decode(secret(cut)) } == .damaged)
    }
  }

  @Test func `mutated manifests are refused or read, never a trap`() {
    var (read, refused) = (0, 0)
    for changed in Mutations(of: manifest(length: 131_072, count: 2)) {
      let failure = failure {
        // There is one way to write what is read.
        let again = try self.encoded(ItemBody.decode(secret(changed)))
        #expect(again == changed)
        read += 1
      }
      if failure == .damaged { refused += 1 }
    }
    #expect(read > 0 && refused > 0 && read + refused == 2_000)
  }

  private func encoded(_ body: consuming ItemBody) throws -> [UInt8] {
    switch consume body {
    case .inline(let value): bytes(of: try ItemBody.encode(inline: value.bytes))
    case .chunked(let manifest): bytes(of: try ItemBody.encode(manifest))
    }
  }
}
