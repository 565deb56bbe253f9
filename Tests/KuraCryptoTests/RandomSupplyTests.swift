// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCrypto

@Suite struct `A supply of random bytes` {
  @Test func `gives each byte out once, and goes on when it is used up`() throws {
    var supply = try RandomSupply(byteCount: 100)
    var pieces: Set<[UInt8]> = []
    for _ in 0..<50 {
      var piece = [UInt8](repeating: 0, count: 24)
      var target = piece.mutableSpan
      try supply.fill(&target)
      pieces.insert(piece)
    }
    #expect(pieces.count == 50)
    #expect(!pieces.contains([UInt8](repeating: 0, count: 24)))
  }

  @Test func `overwrites what it gave out`() throws {
    var supply = try RandomSupply(byteCount: 64)
    var piece = [UInt8](repeating: 0, count: 16)
    var target = piece.mutableSpan
    try supply.fill(&target)
    let held = bytes(supply.bytes.bytes)
    #expect(held.prefix(16).allSatisfy { $0 == 0 })
    #expect(held.suffix(48).contains { $0 != 0 })
  }
}
