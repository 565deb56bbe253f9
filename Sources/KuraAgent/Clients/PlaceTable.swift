// SPDX-License-Identifier: MIT

/// Gives each client a place, and tells it from those who had that place before.
struct PlaceTable<Guest: AnyObject>: Sequence {
  private var guests: [Guest?] = []
  /// How many left each place: what is for one of them finds nobody.
  private var tenants: [UInt32]
  private var turn = 0

  /// So many places, all free.
  init(count: Int) { tenants = Array(repeating: 0, count: count) }

  /// The first place that nobody has, and which tenant of it comes next; nil when there is none.
  var free: (place: Int, tenant: UInt32)? {
    let place = guests.firstIndex { $0 == nil } ?? guests.count
    return place < tenants.count ? (place, tenants[place]) : nil
  }

  var isEmpty: Bool { guests.allSatisfy { $0 == nil } }

  /// How many have a turn each, at most.
  var count: Int { guests.count }

  /// Who has the place, as that tenant.
  subscript(place: Int, tenant: UInt32) -> Guest? {
    guard place < guests.count, tenants[place] == tenant else { return nil }
    return guests[place]
  }

  /// Gives a place that is free.
  mutating func take(_ place: Int, for guest: Guest) {
    if place == guests.count { guests.append(nil) }
    precondition(guests[place] == nil, "a place has one guest")
    guests[place] = guest
  }

  /// Frees a place.
  mutating func leave(_ place: Int) {
    guests[place] = nil
    tenants[place] &+= 1
    while case .some(nil) = guests.last { guests.removeLast() }
  }

  /// Whose turn is next, place by place; nil for a place that nobody has.
  mutating func nextInTurn() -> Guest? {
    guard !guests.isEmpty else { return nil }
    let place = turn % guests.count
    turn = place + 1
    return guests[place]
  }

  func makeIterator() -> some IteratorProtocol<Guest> {
    guests.lazy.compactMap { $0 }.makeIterator()
  }
}
