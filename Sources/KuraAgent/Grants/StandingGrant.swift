// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Has the programs below a process served some protected values, for as long as their owner said.
///
/// It holds what opens each of these values as it was then, and nothing that opens another.
final class StandingGrant {
  /// Holds one item's keys, and what the item is called.
  final class Item {
    let body: BodyKey
    private(set) var name: SecretBytes

    init(_ body: BodyKey, _ name: consuming SecretBytes) {
      self.body = body
      self.name = name
    }

    func rename(_ name: consuming SecretBytes) { self.name = name }
  }

  /// Says what its owner set.
  struct Terms {
    /// Until when, in milliseconds since boot.
    var deadline: UInt64
    /// How many values it may open; nil for any number.
    var uses: UInt32?
    /// Why, in the owner's words.
    var reason: [UInt8]
  }

  let number: UInt64
  let root: GrantRoot
  private(set) var terms: Terms
  fileprivate(set) var items: [Item]

  init(_ number: UInt64, below root: consuming GrantRoot, _ terms: Terms, _ items: [Item]) {
    self.number = number
    self.root = root
    self.terms = terms
    self.items = items
  }

  /// Why it is over; nil while it is not.
  fileprivate func end(at now: UInt64) -> GrantEnd? {
    if items.isEmpty { return .changed }
    if terms.uses == 0 { return .uses }
    if root.hasEnded { return .process }
    return now >= terms.deadline ? .time : nil
  }

  /// What opens its values; each that is opened is counted.
  func key(counting opened: OpenedSeals) -> ProtectedKey {
    ProtectedKey(of: items.map(\.body), counting: opened)
  }

  /// Counts what was opened, before it is sent.
  ///
  /// - Returns: Whether so much may be.
  func count(_ opened: OpenedSeals) -> Bool {
    guard let uses = terms.uses else { return true }
    guard let left = UInt32(exactly: Int(uses) - opened.count) else { return false }
    terms.uses = left
    return true
  }
}

/// Keeps the grants of a vault that is unlocked; with one that it lets go of, its keys are wiped.
struct GrantTable {
  /// How many of a vault there are at most.
  static let most = 64
  /// Of how many values together.
  static let mostItems = 512

  /// The oldest first.
  private(set) var all: [StandingGrant] = []
  private var lastNumber: UInt64 = 0
  /// The state of the vault in which all values were found to be what was granted.
  private var epoch: UInt64 = 0

  var isEmpty: Bool { all.isEmpty }

  /// Whether there is room for one of so many items.
  func hasRoom(for count: Int) -> Bool {
    all.count < Self.most && itemCount + count <= Self.mostItems
  }

  /// Keeps one more.
  mutating func add(
    below root: consuming GrantRoot, _ terms: StandingGrant.Terms, _ items: [StandingGrant.Item],
    at epoch: UInt64
  ) -> StandingGrant {
    lastNumber += 1
    let grant = StandingGrant(lastNumber, below: root, terms, items)
    // The others are of that state, or are looked at again.
    if all.isEmpty { self.epoch = epoch }
    all.append(grant)
    return grant
  }

  /// Those that serve a process.
  func serving(_ chain: ProcessChain) -> [StandingGrant] {
    all.filter { chain.isWithin($0.root.tree) }
  }

  /// Whether one serves a value of that name, however often, to who is within some trees.
  func serves(_ name: borrowing SecretBytes, _ isWithin: (ProcessTree) -> Bool) -> Bool {
    for grant in all where grant.terms.uses == nil && isWithin(grant.root.tree) {
      for item in grant.items where item.name.isEqual(to: name) { return true }
    }
    return false
  }

  /// When the next one ends by itself, in milliseconds since boot.
  var nextDeadline: UInt64? { all.map(\.terms.deadline).min() }

  /// Lets go of those that are over: their time, their uses, their process, or all that they were for.
  ///
  /// - Returns: Their numbers, and why each ended.
  mutating func expire(at now: UInt64) -> [(number: UInt64, cause: GrantEnd)] {
    var ended: [(UInt64, GrantEnd)] = []
    all.removeAll { grant in
      guard let cause = grant.end(at: now) else { return false }
      ended.append((grant.number, cause))
      return true
    }
    return ended
  }

  /// Lets go of one, or of all.
  ///
  /// - Returns: Their numbers.
  mutating func end(_ number: UInt64?) -> [UInt64] {
    let ended = all.map(\.number).filter { number == nil || $0 == number }
    all.removeAll { ended.contains($0.number) }
    return ended
  }

  /// Lets go of what the vault does not have any more as it was granted, where the vault has changed.
  ///
  /// - Parameter isCurrent: Whether a value is still what a key opens.
  /// - Returns: Whether there was anything.
  mutating func check(at epoch: UInt64, _ isCurrent: (StandingGrant.Item) -> Bool) -> Bool {
    guard !all.isEmpty, epoch != self.epoch else { return false }
    self.epoch = epoch
    let count = itemCount
    for grant in all { grant.items.removeAll { !isCurrent($0) } }
    return itemCount < count
  }

  private var itemCount: Int { all.reduce(0) { $0 + $1.items.count } }
}
