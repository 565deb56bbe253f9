// SPDX-License-Identifier: MIT

import Testing

@testable import KuraAgent

@Suite struct PlaceTableTests {
  private final class Guest {}

  private var table = PlaceTable<Guest>(count: 3)
  private let guests = [Guest(), Guest(), Guest(), Guest()]

  @Test mutating func `each guest gets the first free place, while there is one`() throws {
    for guest in guests.prefix(3) { table.take(try #require(table.free).place, for: guest) }
    #expect(table.free == nil)
    #expect(Array(table).map(ObjectIdentifier.init) == guests.prefix(3).map(ObjectIdentifier.init))
    table.leave(1)
    #expect(table.free?.place == 1)
    #expect(Array(table).count == 2)
  }

  @Test mutating func `what is for who had a place before finds nobody`() {
    table.take(0, for: guests[0])
    #expect(table[0, 0] === guests[0])
    table.leave(0)
    #expect(table[0, 0] == nil)
    #expect(table.isEmpty)
    #expect(table.free?.tenant == 1)
    table.take(0, for: guests[1])
    #expect(table[0, 0] == nil)
    #expect(table[0, 1] === guests[1])
    #expect(table[2, 0] == nil)
  }

  @Test mutating func `each has a turn, also when somebody leaves in between`() {
    #expect(table.nextInTurn() == nil)
    for place in 0..<3 { table.take(place, for: guests[place]) }
    #expect(table.nextInTurn() === guests[0])
    table.leave(2)
    #expect(table.nextInTurn() === guests[1])
    #expect(table.nextInTurn() === guests[0])
    table.leave(0)
    #expect(table.nextInTurn() === guests[1])
    #expect(table.nextInTurn() == nil)
    #expect(table.nextInTurn() === guests[1])
  }
}
