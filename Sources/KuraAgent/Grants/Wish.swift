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
    let place: WishPlace
    /// The programs above it, and why it asks, as the owner is told.
    let chain: [UInt8]
    let reason: [UInt8]
    var names: [Name] = []
  }

  /// Says what is wished for beside the names.
  struct Terms: Equatable {
    /// For how long, in ms; 0: as the owner chooses.
    var lifetime: UInt64
    /// nil for any number.
    var uses: UInt32?
    /// Of those who ask, where it is asked by one of them there; nil: wherever somebody answers for the owner.
    var terminal: UInt32?
  }

  /// The longest name that is asked for, in bytes.
  static let longestName = 255

  let number: UInt64
  let link: ProcessLink
  /// Whether it may be for more than this once: all of a login is never granted anything.
  let mayLast: Bool
  let terms: Terms
  /// When the process was started, Unix time in ms: found out once, so that it stays what was shown.
  let started: UInt64
  private(set) var names: [Name] = []
  private(set) var askers: [Asker] = []
  /// Whether nobody joins any more: it is being answered.
  var isClosed = false
  /// Counts those who came and went: as long as that stays, it is what was shown.
  private(set) var changes = 0

  init(
    _ number: UInt64, below link: ProcessLink, mayLast: Bool, _ terms: Terms, at now: Moment
  ) {
    (self.number, self.link, self.mayLast, self.terms) = (number, link, mayLast, terms)
    started = now.wall - min(now.wall, now.boot - min(now.boot, link.start))
  }

  var tree: ProcessTree { ProcessTree(process: link.process, start: link.start) }

  /// Whether one more client can join who asks for a process: one that is not below it asks alone, and so does who asks
  /// for what others are to read.
  func takes(
    _ asker: Asker, below link: ProcessLink, mayLast: Bool, _ terms: Terms, _ count: Int
  ) -> Bool {
    !isClosed && self.link.process == link.process && self.link.start == link.start
      && self.mayLast == mayLast
      && self.terms == terms && names.count + count <= ProtocolLimit.asked
      && askers.count < ProtocolLimit.askers
      && (askers + [asker]).allSatisfy { $0.place.isWithin(tree) }
  }

  /// Whether it is asked by one of those who ask.
  var isHere: Bool { terms.terminal != nil }

  /// Whether somebody may answer for the owner: none of those who ask, or one of them, where these ask him themselves.
  func admits(_ approver: ProcessChain?) -> Bool {
    guard isHere else { return askers.allSatisfy { $0.place.admits(approver) } }
    return askers.contains { $0.place.isOf(approver) }
  }

  /// Takes one more in; a name that was asked for already is that.
  func join(_ asker: Asker, _ names: [Name]) {
    var asker = asker
    asker.names = names.map { new in
      if let known = self.names.first(where: { $0.bytes.isEqual(to: new.bytes) }) { return known }
      self.names.append(new)
      return new
    }
    askers.append(asker)
    changes += 1
  }

  /// Lets one go, and the names that nobody else wants.
  ///
  /// - Returns: Whether it was there.
  func leave(_ connection: Connection) -> Bool {
    guard askers.contains(where: { $0.connection === connection }) else { return false }
    changes += 1
    askers.removeAll { $0.connection == nil || $0.connection === connection }
    names.removeAll { name in !askers.contains { $0.names.contains { $0 === name } } }
    return true
  }
}

/// Says where a client asks, and so who does not answer it for the owner.
struct WishPlace {
  private let chain: ProcessChain
  /// What is below these could answer what it asks itself.
  let trees: [ProcessTree]
  /// Those of all the processes that it is below: what has one of these could read there what is typed.
  private let terminals: [UInt32]

  /// - Parameters:
  ///   - link: The process that is to be served.
  ///   - chain: Of who asks.
  init(_ link: ProcessLink, _ chain: ProcessChain) {
    self.chain = chain
    let links = chain.links
    let own = chain.tree.flatMap { tree in links.firstIndex { $0.process == tree.process } } ?? 0
    trees = [link, links[own]].map { ProcessTree(process: $0.process, start: $0.start) }
    terminals = (links + [link]).map(\.terminal).filter { $0 != 0 }
  }

  /// Whether who asks is below a process.
  func isWithin(_ tree: ProcessTree) -> Bool { chain.isWithin(tree) }

  /// Whether it is that process that asks.
  func isOf(_ other: ProcessChain?) -> Bool {
    guard let own = chain.links.first, let link = other?.links.first else { return false }
    return own.process == link.process && own.start == link.start
  }

  /// The programs that started it, up to the shell of its terminal.
  var starters: [ProcessTree] { chain.starters }

  /// Its own terminal; 0 for none.
  var terminal: UInt32 { chain.links.first?.terminal ?? 0 }

  /// The process trees that it stands in itself, in which a no is to hold: who starts a shell for each question would
  /// ask on and on else.
  var ownTrees: [ProcessTree] { trees.filter { chain.isWithin($0) } + chain.starters }

  /// Whether somebody may answer: one above whom all processes were looked at that the system shows, and who is not one
  /// of those that ask, nor where these can see what is typed.
  ///
  /// A pseudo-terminal may stand within another one, whose programs see all that is typed in it. On a console a whole
  /// desktop may have been started.
  func admits(_ approver: ProcessChain?) -> Bool {
    guard let approver, approver.isWhole, let own = approver.links.first else { return false }
    let places = [own.terminal] + approver.links.filter(\.isAtPseudoTerminal).map(\.terminal)
    return !places.contains { terminals.contains($0) }
      && !approver.links.contains { link in
        trees.contains(ProcessTree(process: link.process, start: link.start))
      }
  }
}

/// Keeps what the owner of a vault is asked for, and what was refused a moment ago.
struct WishDesk {
  /// How many questions there are at most: all of them are told in one frame.
  static let most = 40
  /// How many are of those who ask at one terminal, or at none: others find room beside them.
  static let mostOfTerminal = 20
  /// How long what was refused is not asked for again by the same programs, in ms.
  static let quiet: UInt64 = 60_000
  /// Of how many names that is remembered.
  static let mostDeclined = 200

  /// Is an item that was refused to the programs below some processes.
  private struct Declined {
    let trees: [ProcessTree]
    let name: Wish.Name
    /// Until when, on the monotonic clock.
    let end: UInt64
    /// Whether it was refused at the terminal of those that asked.
    let isHere: Bool
  }

  /// The oldest first.
  private(set) var all: [Wish] = []
  private var declined: [Declined] = []
  private var lastNumber: UInt64 = 0
  /// Counts what has changed; never what stands for none.
  private(set) var state = WishesRequest.none + 1

  /// Has a client ask, together with those of the same programs.
  mutating func join(
    _ asker: Wish.Asker, _ names: [Wish.Name], below link: ProcessLink, mayLast: Bool,
    _ terms: Wish.Terms, at now: Moment
  ) throws(Refusal) {
    let known = all.first {
      $0.takes(asker, below: link, mayLast: mayLast, terms, names.count)
    }
    guard known != nil || hasRoom(for: asker) else { throw .tooBusy }
    let wish = known ?? Wish(lastNumber + 1, below: link, mayLast: mayLast, terms, at: now)
    if known == nil {
      lastNumber += 1
      all.append(wish)
    }
    wish.join(asker, names)
    change()
  }

  private func hasRoom(for asker: Wish.Asker) -> Bool {
    let beside = all.filter { wish in
      wish.askers.contains { $0.place.terminal == asker.place.terminal }
    }
    return all.count < Self.most && beside.count < Self.mostOfTerminal
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
    var trees: [ProcessTree] = []
    // Whoever names a process has nothing of that one's refused. What is typed at a shell after a no asks anew there.
    let all = wish.askers.flatMap { wish.isHere ? $0.place.starters : $0.place.ownTrees }
    for tree in all where !trees.contains(tree) { trees.append(tree) }
    declined.removeAll { $0.end <= now }
    declined += wish.names.map {
      Declined(trees: trees, name: $0, end: now &+ Self.quiet, isHere: wish.isHere)
    }
    declined.removeFirst(max(0, declined.count - Self.mostDeclined))
  }

  /// For how long a name is not to be asked for by a program, in ms. A no from elsewhere is none to who asks himself.
  func quiet(
    _ name: Span<UInt8>, of chain: ProcessChain, isHere: Bool, at now: UInt64
  ) -> UInt64 {
    var left: UInt64 = 0
    for known in declined where known.end > now && known.name.bytes.isEqual(to: name) {
      guard known.isHere || !isHere else { continue }
      if known.trees.contains(where: { chain.isWithin($0) }) { left = max(left, known.end - now) }
    }
    return left
  }
}

/// Waits for the owner's answer to what a client wishes.
struct WishWait {
  /// For how long one waits at most who can ask elsewhere, in ms: who says that it answers for the owner may never do.
  static let bound: UInt64 = 60_000

  let session: Session
  /// Until when, on the monotonic clock.
  let deadline: UInt64
  /// Where it asks, if only where somebody answers for the owner.
  let place: WishPlace?
  /// When it is to be seen next whether somebody does, on the same clock.
  var look: UInt64
}

/// Waits until the owner is asked for something else than a client was told.
struct WishWatch {
  /// For how long who was told of something counts as one who waits, in ms.
  static let pause: UInt64 = 2_000

  let session: Session
  let flags: WishesRequest.Flags
  let seen: UInt64
  /// Until when, on the monotonic clock.
  let deadline: UInt64
}

extension ProcessChain {
  /// What each process calls itself, with its number, from who asks up; what is left out is marked.
  var words: [UInt8] {
    var words: [UInt8] = []
    for link in links.prefix(8) {
      if !words.isEmpty { words += Array(" < ".utf8) }
      words += link.plainName + Array(" \(link.process)".utf8)
    }
    return links.count > 8 ? words + Array(" < ...".utf8) : words
  }
}

extension ProcessLink {
  /// Whether its terminal is one that another program draws: by its number, as the kernel's devices.txt has it.
  fileprivate var isAtPseudoTerminal: Bool { (136...143).contains(terminal >> 8 & 0xFFF) }

  /// What it calls itself, cut, and without what stands between names and numbers where they are shown: whoever
  /// starts a program names it.
  var plainName: [UInt8] {
    name.prefix(24).map { byte in
      let isPlain = byte > 0x20 && byte != 0x7F && !Self.between.contains(byte)
      return isPlain ? byte : UInt8(ascii: "?")
    }
  }

  private static let between = Array("<>(),".utf8)
}
