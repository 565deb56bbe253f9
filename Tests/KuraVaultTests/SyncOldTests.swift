// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// What was written in format 1, which no device's counter counts, goes into the store once.
@Suite struct `What a vault had before it was shared` {
  private let store = TestStore()
  private let (first, second): (TestVault, TestVault)

  init() throws {
    (first, second) = (try TestVault.machine(0), try TestVault.machine(1))
    try first.createOfFirstFormat()
    try first.fill { vault throws in for number in 0..<9 { try vault.put("\(number)", "of old") } }
  }

  /// The first shares it, and the second begins with a copy.
  private func share() throws {
    try first.takeOver()
    try first.share()
    #expect(try first.meet(store).sentCount == 9)
    try Copies.copy(first, to: second)
  }

  @Test func `is not sent again by who begins with a copy`() throws {
    try share()
    #expect(try second.meet(store).sentCount == 0)
    try second.fill { try $0.put("new", "1") }
    #expect(try second.meet(store, compacts: true).sentCount == 1)
    #expect(try first.meet(store).sentCount == 9)
    #expect(try Copies.state(first) == Copies.state(second))
  }

  @Test func `is sent where it came by another way than the store`() throws {
    let other = try TestVault.machine(2)
    try Copies.copy(first, to: other)
    try other.fill { try $0.put("only there", "of old") }
    try other.takeOver()
    try share()
    #expect(try second.meet(store).sentCount == 0)
    _ = try Copies.merge(other, into: second)
    #expect(try second.meet(store).sentCount == 10)
    try first.meet(store)
    try first.fill { vault throws in #expect(try vault.getText("only there") == "of old") }
  }

  @Test func `is sent again under another key`() throws {
    try share()
    try second.meet(store)
    try second.fill { vault throws in
      try vault.complete(try vault.beginRekey(authorizedBy: second.key(), .cheap()))
    }
    #expect(try second.meet(store).sentCount == 9)
  }
}
