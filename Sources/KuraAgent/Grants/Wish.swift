// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Is what the programs below one process ask the owner for, until it is answered: one question for all of them.
final class Wish {
  /// Holds a name, and which of those who ask want it.
  final class Name {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
  }

  /// Is a client that waits for the answer.
  struct Asker {
    weak var connection: Connection?
    let names: [Name]
  }

  /// Says what is wished for beside the names.
  struct Terms: Equatable {
    /// For how long, in ms; 0: as the owner chooses.
    var lifetime: UInt64
    /// nil for any number.
    var uses: UInt32?
  }

  let number: UInt64
  let link: ProcessLink
  /// Whether it may be for more than this once: all of a login is never granted anything.
  let mayLast: Bool
  let terms: Terms
  /// When the process was started, Unix time in ms: found out once, so that it stays what was shown.
  let started: UInt64
  /// From who asked first.
  let chain: [UInt8]
  let reason: [UInt8]
  private(set) var names: [Name] = []
  private(set) var askers: [Asker] = []

  init(
    _ number: UInt64, below link: ProcessLink, mayLast: Bool, _ terms: Terms, _ chain: [UInt8],
    _ reason: [UInt8], at now: Moment
  ) {
    (self.number, self.link, self.mayLast, self.terms) = (number, link, mayLast, terms)
    (self.chain, self.reason) = (chain, reason)
    started = now.wall - min(now.wall, now.boot - min(now.boot, link.start))
  }

  var tree: ProcessTree { ProcessTree(process: link.process, start: link.start) }

  /// Whether one more client of a process can join.
  func takes(_ link: ProcessLink, mayLast: Bool, _ terms: Terms, _ count: Int) -> Bool {
    self.link.process == link.process && self.link.start == link.start && self.mayLast == mayLast
      && self.terms == terms && names.count + count <= ProtocolLimit.asked
  }

  /// The name of these bytes, one more where there is none.
  func name(_ bytes: Span<UInt8>) throws(Refusal) -> Name {
    if let known = names.first(where: { Self.isEqual($0.bytes, bytes) }) { return known }
    let copy: SecretBytes
    do throws(SecureMemoryError) { copy = try SecretBytes(copying: bytes) } catch {
      throw .outOfMemory
    }
    let name = Name(copy)
    names.append(name)
    return name
  }

  static func isEqual(_ one: borrowing SecretBytes, _ other: Span<UInt8>) -> Bool {
    let bytes = one.bytes
    guard bytes.count == other.count else { return false }
    for index in bytes.indices where bytes[index] != other[index] { return false }
    return true
  }

  func join(_ connection: Connection, _ names: [Name]) {
    askers.append(Asker(connection: connection, names: names))
  }

  /// Lets one go, and the names that nobody else wants.
  ///
  /// - Returns: Whether it was there.
  func leave(_ connection: Connection) -> Bool {
    guard askers.contains(where: { $0.connection === connection }) else { return false }
    askers.removeAll { $0.connection == nil || $0.connection === connection }
    names.removeAll { name in !askers.contains { $0.names.contains { $0 === name } } }
    return true
  }
}

/// Keeps what the owner of a vault is asked for, and what was refused a moment ago.
struct WishDesk {
  /// How many questions there are at most.
  static let most = 64
  /// How long what was refused is not asked for again by the same programs, in ms.
  static let quiet: UInt64 = 60_000

  /// Is an item that was refused to the programs below a process.
  private struct Declined {
    let tree: ProcessTree
    let name: Wish.Name
    /// Until when, on the monotonic clock.
    let end: UInt64
  }

  /// The oldest first.
  private(set) var all: [Wish] = []
  private var declined: [Declined] = []
  private var lastNumber: UInt64 = 0
  /// Counts what has changed; never what stands for none.
  private(set) var state = WishesRequest.none + 1

  /// The wish that a client joins.
  mutating func open(
    below link: ProcessLink, mayLast: Bool, _ terms: Wish.Terms, _ count: Int,
    _ chain: [UInt8], _ reason: [UInt8], at now: Moment
  ) throws(Refusal) -> Wish {
    if let wish = all.first(where: { $0.takes(link, mayLast: mayLast, terms, count) }) {
      return wish
    }
    guard all.count < Self.most else { throw .tooBusy }
    lastNumber += 1
    let wish = Wish(lastNumber, below: link, mayLast: mayLast, terms, chain, reason, at: now)
    all.append(wish)
    return wish
  }

  /// What a client asks for.
  func names(of connection: Connection) -> [Wish.Name] {
    let askers = all.flatMap(\.askers).filter { $0.connection === connection }
    return askers.flatMap(\.names)
  }

  /// Notes that something is asked for otherwise.
  mutating func change() { state += 1 }

  func wish(_ number: UInt64) -> Wish? { all.first { $0.number == number } }

  /// Takes an answered one away.
  mutating func close(_ wish: Wish) {
    all.removeAll { $0 === wish }
    change()
  }

  /// Lets a client go that waits no longer.
  ///
  /// - Returns: Whether anything is asked for otherwise.
  mutating func leave(_ connection: Connection) -> Bool {
    guard let wish = all.first(where: { $0.leave(connection) }) else { return false }
    if wish.askers.isEmpty { all.removeAll { $0 === wish } }
    change()
    return true
  }

  /// Forgets all that was asked for; who asked is answered by who has this done.
  mutating func clear() {
    declined = []
    guard !all.isEmpty else { return }
    all = []
    change()
  }

  /// Remembers what was refused.
  mutating func decline(_ wish: Wish, at now: UInt64) {
    declined.removeAll { $0.end <= now }
    declined += wish.names.map {
      Declined(tree: wish.tree, name: $0, end: now &+ Self.quiet)
    }
  }

  /// For how long a name is not to be asked for by the programs below a process, in ms.
  func quiet(_ name: Span<UInt8>, of link: ProcessLink, at now: UInt64) -> UInt64 {
    let tree = ProcessTree(process: link.process, start: link.start)
    var left: UInt64 = 0
    for known in declined where known.tree == tree && known.end > now {
      if Wish.isEqual(known.name.bytes, name) { left = max(left, known.end - now) }
    }
    return left
  }
}

/// Waits for the owner's answer to what a client wishes.
struct WishWait {
  let session: Session
  /// Until when, on the monotonic clock.
  let deadline: UInt64
}

/// Waits until the owner is asked for something else than a client was told.
struct WishWatch {
  let session: Session
  let seen: UInt64
  /// Until when, on the monotonic clock.
  let deadline: UInt64
  /// Who it is, so that it is not told to answer for itself.
  let chain: ProcessChain?
}
