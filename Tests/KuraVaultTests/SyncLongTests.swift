// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// A value that takes long to carry, of 1 GiB in the nightly.
@Suite struct `A long value that is cut off amid its transfer` {
  private static let pieces = Copies.isNightly ? 1_024 : 18

  private static func value(_ pieces: Int) -> [UInt8] {
    let block = letters(1 << 20)
    var value: [UInt8] = []
    value.reserveCapacity(pieces << 20)
    for _ in 0..<pieces { value += block }
    return value
  }

  /// The pieces among some files, of 1 MiB each but the last.
  private func pieces(_ paths: [RemotePath], _ store: TestStore) -> [RemotePath] {
    paths.filter { (store.files[$0]?.count ?? 0) > 900_000 }
  }

  @Test func `is resumed, and not begun anew, on its way out and on its way in`() throws {
    let machines = try Machines(2)
    let (first, second, store) = (machines.all[0], machines.all[1], machines.store)
    let value = Self.value(Self.pieces)
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

  /// - Parameter isWhole: Whether it is killed when all pieces are written, and the head is not.
  @Test(arguments: [false, true])
  func `goes on from the first piece that the store has forgotten`(_ isWhole: Bool) throws {
    let machines = try Machines(2)
    let (first, second, store) = (machines.all[0], machines.all[1], machines.store)
    let value = Self.value(18)
    for name in ["a", "b", "c"] { try first.fill { try $0.put(name, "small") } }
    try machines.settle()
    try first.fill { try $0.upload("long", value) }
    (store.forgets, store.batch) = (true, 5 << 20)
    try first.meet(store, killedAfter: isWhole ? 22 : 21)
    let kept = pieces(Array(store.files.keys), store)
    #expect(kept.count == 15 && !kept.contains { !store.written.contains($0) })

    store.forgetWrites()
    let report = try first.meet(store)
    #expect(pieces(store.written, store).count == 3)
    if !isWhole {
      // No head named what is lost: nothing else is written for it.
      #expect(report.findings == [] && report.sentCount == 1)
    }
    try second.meet(store)
    try second.fill { vault throws in #expect(try vault.get("long") == value) }
  }
}
