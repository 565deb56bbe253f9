// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A value that takes long to carry, of 1 GiB in the nightly.
@Suite struct `A long value that is cut off amid its transfer` {
  private static let pieces = Copies.isNightly ? 1_024 : 18

  /// The pieces among some files, of 1 MiB each but the last.
  private func pieces(_ paths: [RemotePath], _ store: TestStore) -> [RemotePath] {
    paths.filter { (store.files[$0]?.count ?? 0) > 900_000 }
  }

  @Test func `is resumed, and not begun anew, on its way out and on its way in`() throws {
    let machines = try Machines(2)
    let (first, second, store) = (machines.all[0], machines.all[1], machines.store)
    let block = letters(1 << 20)
    var value: [UInt8] = []
    value.reserveCapacity(Self.pieces << 20)
    for _ in 0..<Self.pieces { value += block }
    try first.fill { try $0.upload("long", value) }

    // Of what was written one is told at each sixteenth.
    store.forgetWrites()
    try first.meet(store, killedAfter: 3 + Self.pieces)
    let before = pieces(store.written, store).count
    store.forgetWrites()
    try first.meet(store)
    let after = pieces(store.written, store).count
    #expect(before > 16 && after > 0)
    #expect(before + after <= Self.pieces + SyncPush.piecesBetweenNotes)

    store.forgetWrites()
    try second.meet(store, killedAfter: 2 + Self.pieces)
    try second.meet(store)
    let fetched = pieces(store.fetched, store)
    #expect(Set(fetched).count == Self.pieces && fetched.count == Self.pieces)
    try second.fill { vault throws in #expect(try vault.get("long") == value) }
  }
}
