// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

@Suite struct `Where long values stand in a store` {
  private let other: DeviceID = Shared.mark(7)

  @Test func `is remembered, as far as they are there`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    try vault.upload("long", pattern(2_000_000))
    let value = try #require(try vault.longValues().first)
    #expect(try vault.place(of: value) == nil)
    try vault.setPlace(try Shared.place(value, of: other, chunks: 31))
    #expect(try vault.place(of: value)?.isWhole == false)
    let whole = try Shared.place(value, of: other, pieces: 2, chunks: 31)
    try vault.setPlace(whole)
    try vault.setPlace(try Shared.place(Shared.mark(9), of: other))
    vault.fold()
    vault = try file.unlock()
    #expect(try vault.place(of: value) == whole && whole.isWhole)
    let held = try vault.places().filter(\.isHeld)
    #expect(try vault.places().count == 2 && held.map(\.place) == [whole])
    try vault.deletePlace(of: Shared.mark(9))
    #expect(try vault.places().count == 1 && vault.findings() == [])
    vault.fold()
  }

  @Test func `is forgotten with the value, but where this copy has to take objects away`() throws {
    let file = try Shared.file()
    var vault = try file.unlock()
    let own = try vault.ownDevice()
    var known: [ValueID] = []
    for (name, device) in [("mine", own), ("theirs", other)] {
      try vault.upload(name, pattern(200_000))
      let value = try #require(try vault.longValues().first { !known.contains($0) })
      try vault.setPlace(try Shared.place(value, of: device))
      known.append(value)
    }
    try vault.sweepAll()
    #expect(try vault.places().map(\.isHeld) == [true, true])
    for name in ["mine", "theirs"] { _ = try vault.purge(Array(name.utf8).span, .item) }
    #expect(try vault.places().map(\.isHeld) == [false, false])
    try vault.sweepAll()
    #expect(try vault.places().map(\.place.value.device) == [own])
    #expect(try vault.findings() == [])
    vault.fold()
  }

  @Test(arguments: [
    "UPDATE place SET data = zeroblob(328)", "UPDATE place SET value = zeroblob(16)",
    "UPDATE place SET value = x'00'",
  ])
  func `is not known where nobody can read it`(_ attack: String) throws {
    let file = try Shared.file()
    let value: ValueID = Shared.mark(8)
    try file.fill { vault throws in try vault.setPlace(Shared.place(value, of: other)) }
    file.attack(attack)
    var vault = try file.unlock()
    #expect(try vault.place(of: value) == nil && vault.places().isEmpty)
    #expect(try vault.findings() == ["header: place of a value in the store"])
    vault.fold()
  }

  @Test func `is noted nowhere in a vault that has no store`() throws {
    let file = try TestVault(creating: false)
    try file.createOfFirstFormat()
    try file.takeOver()
    var vault = try file.unlock()
    try vault.setPlace(try Shared.place(Shared.mark(8), of: other))
    #expect(try vault.place(of: Shared.mark(8)) == nil && vault.places().isEmpty)
    vault.fold()
  }

  @Test func `is not believed of a store that forgot pieces which no head had named`() throws {
    let (file, store) = (try TestVault.machine(0), TestStore())
    try file.createOfFirstFormat()
    try file.takeOver()
    try file.fill { try $0.upload("long", letters(1_300_000)) }
    try file.share()
    let device = try file.settledDevice()
    store.forgets = true
    for isNewKey in [false, true] {
      if isNewKey {
        try file.fill { vault throws in
          try vault.complete(try vault.beginRekey(authorizedBy: file.key(), .cheap()))
        }
      }
      let before = store.files[.head(device)]
      var steps = 0
      while store.files[.head(device)] == before {
        #expect(try file.meet(store, killedAfter: steps).findings == [])
        steps += 1
      }
      #expect(steps > 6)
      try file.fill { vault throws in
        let pieces = try vault.places().flatMap(\.place.value.pieces)
        let there = Set(store.objects(of: device))
        #expect(pieces.count == 2)
        #expect(pieces.allSatisfy { there.contains(.object(device, hash: $0.hash)) })
      }
    }
  }
}
