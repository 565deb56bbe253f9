// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Keeps a question for the owner in step with what is asked for, and lets how far the answer goes be chosen.
struct ApprovalWatch: ~Copyable, PromptWatch {
  /// How long the next wish is waited for at a time, in ms.
  private static let patience: UInt64 = 3_600_000

  private var connection: Connection
  /// What is asked for, as it was told last.
  private(set) var queue: WishQueue
  /// The question that stands.
  private var asked: WishSummary?
  private var turns = ApprovalTurns()
  /// What is not asked here, as long as it stays as it is.
  private var unshown: [WishSummary] = []
  /// Whether it was told beside a question, and nobody has looked at it since.
  private var isUnread = false
  private var failure: CommandError?
  /// What the wish can be answered with.
  var choice = TermChoice()

  /// Begins to hear what is asked for.
  init(_ connection: consuming Connection) throws(CommandError) {
    self.connection = connection
    queue = WishQueue()
    try begin(patience: 0)
    try read()
    try begin(patience: Self.patience)
  }

  private mutating func begin(patience: UInt64) throws(CommandError) {
    let state = queue.state
    try running { () throws(ClientError) in
      try connection.beginWishes(since: state, patience: patience)
    }
  }

  private mutating func read() throws(CommandError) {
    queue = try running { () throws(ClientError) in
      try connection.endWishes(patience: Self.patience)
    }
  }

  /// Waits until something else is asked for, and goes on to hear.
  mutating func next() throws(CommandError) {
    try check()
    if isUnread {
      isUnread = false
      return
    }
    try read()
    try begin(patience: Self.patience)
  }

  /// Ends where nothing is heard any more.
  func check() throws(CommandError) { if let failure { throw failure } }

  /// The question whose turn it is.
  mutating func ask() -> WishSummary? {
    let all = queue.all.filter { !unshown.contains($0) }
    var numbers: [UInt64] = []
    for wish in all { numbers.append(wish.number) }
    let number = turns.next(of: numbers)
    asked = all.first { $0.number == number }
    return asked
  }

  /// Has a question that was not what it is any more asked after the others.
  mutating func putBack(_ wish: WishSummary) { turns.putBack(wish.number) }

  /// Leaves a question to other places, until it is another one.
  mutating func leave(_ wish: WishSummary) {
    unshown.removeAll { !queue.all.contains($0) }
    unshown.append(wish)
  }

  var descriptor: Int32 { connection.watched }
  var isOver: Bool { false }
  var hasChoices: Bool { choice.hasOthers }

  /// What others ask besides leaves the question as it is.
  mutating func stands() -> Bool {
    do throws(CommandError) { try next() } catch {
      failure = error
      return false
    }
    isUnread = asked.map { !queue.all.contains($0) } ?? true
    return !isUnread
  }

  mutating func choose() -> String? { choice.choose() }

  mutating func noteKey() {}
  mutating func stepAside() {}
  mutating func comeBack() -> Bool { true }
}

/// Says whose turn it is: a question that changes while it stands, as others come and go, keeps none waiting.
struct ApprovalTurns {
  /// Those that changed, the last one last.
  private var last: [UInt64] = []

  mutating func putBack(_ number: UInt64) {
    last.removeAll { $0 == number }
    last.append(number)
  }

  /// The next of those that are asked, the oldest first.
  mutating func next(of numbers: [UInt64]) -> UInt64? {
    last.removeAll { !numbers.contains($0) }
    return numbers.first { !last.contains($0) } ?? last.first
  }
}
