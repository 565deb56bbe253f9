// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura approve`: has the owner asked here for what programs wish to read, wherever they run.
enum Approve {
  static let command = Command(
    "approve", abstract: "be asked here when programs wish to read protected values",
    options: Option.recoveryKeys, unlocking: .whenLocked, run: run)

  /// How long the next wish is waited for at a time, in ms.
  private static let patience: UInt64 = 3_600_000

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let isQuiet = invocation.messages.isQuiet
    _ = try person(access)
    while true {
      var queue = WishQueue()
      var held = Held()
      try access.unlocked(holding: &held) { connection throws(ClientError) in
        try connection.beginWishes(since: queue.state, patience: 0)
        queue = try connection.endWishes()
      }
      guard let connection = held.connection.take() else { throw .client(.hungUp) }
      if !isQuiet { access.messages.note("programs that ask are answered here; Ctrl-C ends that") }
      do throws(CommandError) {
        try answer(ApprovalWatch(connection, queue), access)
      } catch {
        guard case .client(.refused(.locked)) = error else { throw error }
        access.messages.note("the vault was locked; what is asked for is gone with it")
      }
      try awaitUnlock(access)
    }
  }

  /// Nobody is asked where nobody sees all of it.
  private static func person(_ access: VaultAccess) throws(CommandError) -> Questioner {
    let questioner = try access.asking.questioner()
    guard questioner.showsRemarks else {
      // A file answers nothing: it sees no question.
      throw .failure(
        "it takes the passcode to answer for what is asked for, and nobody can be asked",
        hint: "run it at a terminal of your own", .needsInteraction)
    }
    return questioner
  }

  private static func awaitUnlock(_ access: VaultAccess) throws(CommandError) {
    while true {
      var connection = try access.connect()
      do throws(ClientError) { return try connection.wait(milliseconds: patience) } catch {
        guard LockFacts(error) != nil else { throw .client(error) }
      }
    }
  }

  /// Answers one after the other, until the vault is locked. The terminal stays as it is for one question meanwhile:
  /// keys that were meant for one that is gone are shown to nobody, and are no answer to the next.
  private static func answer(
    _ begun: consuming ApprovalWatch, _ access: VaultAccess
  ) throws(CommandError) {
    var watch = begun
    var untold = 0
    var questioner = try person(access)
    try watch.begin()
    while true {
      if watch.queue.untold > untold { access.messages.note(elsewhere) }
      untold = watch.queue.untold
      if let wish = watch.queue.all.first {
        guard try ask(wish, &questioner, &watch, access) else { continue }
      } else {
        try questioner.rest()
      }
      try watch.next()
    }
  }

  private static let elsewhere =
    "a program asks that could answer itself here, or see what is typed; run 'kura approve' at a "
    + "terminal that has nothing to do with it"

  /// - Returns: Whether something else is asked for now, or will be at once.
  private static func ask(
    _ wish: WishSummary, _ questioner: inout Questioner, _ watch: inout ApprovalWatch,
    _ access: VaultAccess
  ) throws(CommandError) -> Bool {
    questioner.renew()
    var connection = try access.connect()
    let report = try running { () throws(ClientError) in try connection.status() }
    let kind = report.lacksPasscode ? .recoveryKey : access.asking.authority
    watch.choice = TermChoice(access.terms(of: wish, by: kind))
    var question = try access.question(kind, &connection, to: nil)
    (question.label, question.remark) = (watch.choice.label, wish.words)
    do throws(CommandError) {
      let reply = try questioner.attempts(question, watch: &watch) {
        kind, secret, watch throws(ClientError) in
        try connection.approve(wish, watch.choice.term, kind, secret: secret)
      }
      access.note(reply.notices, after: kind)
      return true
    } catch {
      return try settle(wish, error, &questioner, &connection, access) || watch.hasNews
    }
  }

  /// Says no where the owner does, and goes on where it was answered elsewhere, is asked otherwise by now, or cannot be
  /// given.
  ///
  /// - Returns: Whether something else is asked for now.
  private static func settle(
    _ wish: WishSummary, _ error: CommandError, _ questioner: inout Questioner,
    _ connection: inout Connection, _ access: VaultAccess
  ) throws(CommandError) -> Bool {
    if error == .prompt(.answeredElsewhere) {
      try questioner.dropTyped()
      access.messages.note("that is not asked any more, or not so")
      return true
    }
    if error == .prompt(.cancelled) {
      do throws(ClientError) { try connection.decline(wish) } catch {
        guard case .refused(.changedMeanwhile) = error else { throw .client(error) }
      }
      access.messages.note("refused")
      return true
    }
    guard error.isOfWish else { throw error }
    if case .client(.refused(.changedMeanwhile)) = error {
      access.messages.note("something else is asked for now; look at it again")
      return true
    }
    access.messages.report(Diagnostic(error))
    return false
  }
}

extension CommandError {
  /// Whether what is asked for, and nothing else, cannot be answered here.
  fileprivate var isOfWish: Bool {
    if case .program(.unshown, _) = self { return true }
    guard case .client(.refused(let refusal)) = self else { return false }
    return refusal.failure != .locked
  }
}

/// Keeps a question for the owner in step with what is asked for, and lets how far the answer goes be chosen.
struct ApprovalWatch: ~Copyable, PromptWatch {
  /// How long the next wish is waited for at a time, in ms.
  private static let patience: UInt64 = 3_600_000

  private var connection: Connection
  /// What is asked for, as it was told last.
  private(set) var queue: WishQueue
  /// Whether it was told beside a question, and nobody has looked at it since.
  private var isUnread = false
  private var failure: CommandError?
  /// What the wish can be answered with.
  var choice = TermChoice()

  init(_ connection: consuming Connection, _ queue: WishQueue) {
    self.connection = connection
    self.queue = queue
  }

  /// Begins to hear what else is asked for.
  mutating func begin() throws(CommandError) {
    let state = queue.state
    try running { () throws(ClientError) in
      try connection.beginWishes(since: state, patience: Self.patience)
    }
  }

  /// Waits until something else is asked for, and goes on to hear.
  mutating func next() throws(CommandError) {
    if let failure { throw failure }
    if isUnread {
      isUnread = false
      return
    }
    queue = try running { () throws(ClientError) in
      try connection.endWishes(patience: Self.patience)
    }
    try begin()
  }

  /// Whether something else is asked for already.
  var hasNews: Bool { isUnread || failure != nil || kura_terminal_await(descriptor, 0) }

  var descriptor: Int32 { connection.watched }
  var isOver: Bool { false }
  var hasChoices: Bool { choice.hasOthers }

  /// What others ask besides leaves the question as it is.
  mutating func stands() -> Bool {
    let asked = queue.all.first
    do throws(CommandError) { try next() } catch {
      failure = error
      return false
    }
    isUnread = queue.all.first != asked
    return !isUnread
  }

  mutating func choose() -> String? { choice.choose() }

  mutating func noteKey() {}
  mutating func stepAside() {}
  mutating func comeBack() -> Bool { true }
}

// MARK: - Words

extension WishSummary {
  /// What is asked for, as a person is shown it: who asks, then every name on a line of its own, next to the question.
  fileprivate var words: String {
    let who =
      Claim.cut(program) + " (\(process), since " + Moment.recent(started, now: Clock.unix())
      + ")"
    let span = GrantWish.span(lifetime, uses)
    var text = ""
    for asker in askers {
      text += "asked by " + Diagnostic.plain(asker.chain) + "\n"
      if !asker.reason.isEmpty { text += claim(asker.reason) + "\n" }
    }
    text += who + " and the programs below it ask to read" + span + ":"
    for name in names { text += "\n  " + Diagnostic.plain(Array(name.utf8)) }
    return text
  }
}

extension WishSummary {
  /// How many names leave room for all that is said on any screen.
  static let few = 8

  /// What one says of itself: all of it, where that pushes none of the names off the screen.
  fileprivate func claim(_ reason: [UInt8]) -> String {
    guard reason.count > Claim.longest, names.count <= Self.few, askers.count == 1 else {
      return Claim(reason, of: program).text
    }
    return Claim.whole(reason, of: program)
  }
}

extension VaultAccess {
  /// What can be answered, each with its question. How many names there are stands where it cannot be scrolled away.
  fileprivate func terms(
    of wish: WishSummary, by kind: Credential
  ) -> [(term: ApprovedTerm, label: String)] {
    let count = wish.names.count
    let purpose = "let it read " + (count == 1 ? "that" : "these \(count)")
    if wish.lifetime == nil { return terms(of: purpose, by: kind, canChoose: wish.mayLast) }
    return [(.asked, question(kind, to: Purpose(purpose)).label)]
  }
}
