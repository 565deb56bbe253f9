// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct ProtectedBodyTests {
  private let vault: VaultID = identifier(1)
  private let item: ItemID = identifier(2)

  private func sealed(
    _ value: [UInt8], to pair: borrowing ProtectedPair,
    for origin: ProtectedBody.Origin = .number(3)
  ) throws -> ProtectedBody {
    let body = try ItemBody.encode(inline: value.span)
    return try ProtectedBody.seal(
      body.bytes, to: pair.publicHalf, vault: vault, item: item, for: origin)
  }

  @Test(arguments: [0, 1, 1_000, 65_536])
  func `comes back with the pair, and says its length without it`(count: Int) throws {
    let pair = try ProtectedPair.random()
    let value = [UInt8](repeating: 7, count: count)
    let made = try sealed(value, to: pair)
    let read = try ProtectedBody.decode(try SecretBytes(copying: made.encoded))
    #expect(read.innerByteCount == count + 1)
    #expect(read.value == nil)
    #expect(read.origin == .number(3))
    let opened = try read.open(with: pair, vault: vault, item: item)
    #expect(bytes(opened.bytes) == [0] + value)
  }

  @Test func `opens for its own pair, vault, item and revision only`() throws {
    let pair = try ProtectedPair.random()
    let other = try ProtectedPair.random()
    let body = try sealed([1, 2, 3], to: pair)
    #expect(throws: FormatError.damaged) {
      _ = try body.open(with: other, vault: vault, item: item)
    }
    #expect(throws: FormatError.damaged) {
      _ = try body.open(with: pair, vault: identifier(9), item: item)
    }
    #expect(throws: FormatError.damaged) {
      _ = try body.open(with: pair, vault: vault, item: identifier(9))
    }
    var encoded = bytes(body.encoded)
    encoded[1] = 4
    let moved = try ProtectedBody.decode(try SecretBytes(copying: encoded.span))
    #expect(throws: FormatError.damaged) {
      _ = try moved.open(with: pair, vault: vault, item: item)
    }
  }

  @Test func `is laid out as the manual says`() throws {
    let pair = try ProtectedPair.random()
    let body = try sealed([5], to: pair, for: .number(258))
    let encoded = bytes(body.encoded)
    #expect(encoded.count == 1 + 8 + 32 + 72 + 2)
    #expect(Array(encoded[..<9]) == [2, 2, 1, 0, 0, 0, 0, 0, 0])
    let key = try pair.openingKey(ephemeral: encoded.span.extracting(9..<41))
    let associated = AssociatedData.protectedValue(vault: vault, item: item, revision: 258)
    let inner = try Seal.open(
      encoded.span.extracting(droppingFirst: 41), authenticating: associated.span, under: key)
    #expect(bytes(inner.bytes) == [0, 5])
  }

  @Test func `is bound to a revision's id in format 2`() throws {
    let pair = try ProtectedPair.random()
    let id: RevisionID = identifier(7)
    let body = try sealed([5], to: pair, for: .revision(id))
    let encoded = bytes(body.encoded)
    #expect(encoded.count == 1 + 16 + 32 + 72 + 2)
    #expect(Array(encoded[..<17]) == [4] + id.bytes)
    let key = try pair.openingKey(ephemeral: encoded.span.extracting(17..<49))
    let place = [12] + vault.bytes + item.bytes + id.bytes
    let inner = try Seal.open(
      encoded.span.extracting(droppingFirst: 49), authenticating: place.span, under: key)
    #expect(bytes(inner.bytes) == [0, 5])
    let read = try ProtectedBody.decode(try secret(encoded), of: .second)
    #expect(read.origin == .revision(id) && read.isSealed(upTo: 1))
    #expect(failure { _ = try ProtectedBody.decode(try secret(encoded)) } == .damaged)
    var other = encoded
    other[1] = 8
    let moved = try ProtectedBody.decode(try secret(other), of: .second)
    #expect(failure { _ = try moved.open(with: pair, vault: vault, item: item) } == .damaged)
  }

  @Test func `any cut of it is damaged`() throws {
    let pair = try ProtectedPair.random()
    for origin in [ProtectedBody.Origin.number(3), .revision(identifier(4))] {
      let body = try sealed([5], to: pair, for: origin)
      let encoded = bytes(body.encoded)
      for count in 0..<(encoded.count - 1) {
        #expect(throws: FormatError.damaged) {
          _ = try ProtectedBody.decode(try secret(Array(encoded[..<count])), of: .second)
        }
      }
    }
  }
}
