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
    while true {
      try checkPerson(access)
      var seen = WishesRequest.none
      var wishes: [WishSummary] = []
      var held = Held()
      try access.unlocked(holding: &held) { connection throws(ClientError) in
        try connection.beginWishes(since: seen, patience: 0)
        (seen, wishes) = try connection.endWishes()
      }
      guard let connection = held.connection.take() else { throw .client(.hungUp) }
      if !isQuiet { access.messages.note("programs that ask are answered here; Ctrl-C ends that") }
      do throws(CommandError) {
        try answer(wishes, seen, connection, access)
      } catch {
        guard case .client(.refused(.locked)) = error else { throw error }
        access.messages.note("the vault was locked; what is asked for is gone with it")
      }
      try awaitUnlock(access)
    }
  }

  /// Nobody is asked where nobody sees it.
  private static func checkPerson(_ access: VaultAccess) throws(CommandError) {
    let questioner = try access.asking.questioner()
    guard questioner.canAsk else { throw .noInteraction(.owner("answer for what is asked for")) }
  }

  private static func awaitUnlock(_ access: VaultAccess) throws(CommandError) {
    while true {
      var connection = try access.connect()
      do throws(ClientError) { return try connection.wait(milliseconds: patience) } catch {
        guard LockFacts(error) != nil else { throw .client(error) }
      }
    }
  }

  /// Answers one after the other, until the vault is locked.
  private static func answer(
    _ first: [WishSummary], _ state: UInt64, _ connection: consuming Connection,
    _ access: VaultAccess
  ) throws(CommandError) {
    var (wishes, seen) = (first, state)
    var watch = ApprovalWatch(connection)
    while true {
      try watch.begin(since: seen, patience: patience)
      if let wish = wishes.first { try ask(wish, &watch, access) }
      (seen, wishes) = try watch.end(patience: patience)
    }
  }

  private static func ask(
    _ wish: WishSummary, _ watch: inout ApprovalWatch, _ access: VaultAccess
  ) throws(CommandError) {
    var questioner = try access.asking.questioner()
    var connection = try access.connect()
    let kind = access.asking.authority
    watch.choice = TermChoice(access.terms(of: wish, by: kind))
    var question = try access.question(kind, &connection, to: nil)
    (question.label, question.remark) = (watch.choice.label, wish.words)
    do throws(CommandError) {
      let reply = try questioner.attempts(question, watch: &watch) {
        kind, secret, watch throws(ClientError) in
        try connection.approve(wish, watch.choice.term, kind, secret: secret)
      }
      access.note(reply.notices, after: kind)
    } catch {
      try settle(wish, error, &connection, access)
    }
  }

  /// Says no where the owner does, and goes on where it was answered elsewhere, or is asked otherwise by now.
  private static func settle(
    _ wish: WishSummary, _ error: CommandError, _ connection: inout Connection,
    _ access: VaultAccess
  ) throws(CommandError) {
    if error == .prompt(.answeredElsewhere) { return }
    if error == .prompt(.cancelled) {
      try running { () throws(ClientError) in try connection.decline(wish) }
      return access.messages.note("refused")
    }
    guard case .client(.refused(.changedMeanwhile)) = error else { throw error }
    access.messages.note("something else is asked for now; look at it again")
  }
}

/// Keeps a question for the owner in step with what is asked for, and lets how far the answer goes be chosen.
struct ApprovalWatch: ~Copyable, PromptWatch {
  private var connection: Connection
  /// What the wish can be answered with.
  var choice = TermChoice()

  init(_ connection: consuming Connection) { self.connection = connection }

  mutating func begin(since state: UInt64, patience: UInt64) throws(CommandError) {
    try running { () throws(ClientError) in
      try connection.beginWishes(since: state, patience: patience)
    }
  }

  mutating func end(
    patience: UInt64
  ) throws(CommandError) -> (state: UInt64, all: [WishSummary]) {
    try running { () throws(ClientError) in try connection.endWishes(patience: patience) }
  }

  var descriptor: Int32 { connection.watched }
  var isOver: Bool { false }
  var hasChoices: Bool { choice.hasOthers }
  mutating func choose() -> String? { choice.choose() }

  mutating func noteKey() {}
  mutating func stepAside() {}
  mutating func comeBack() -> Bool { true }
}

// MARK: - Words

extension WishSummary {
  /// What is asked for, as a person is shown it: every name on a line of its own.
  fileprivate var words: String {
    let who =
      Diagnostic.shown(program) + " (\(process), since " + Moment.recent(started, now: Clock.unix())
      + ")"
    let span = GrantWish.span(lifetime, uses)
    var text = who + " and the programs below it ask to read" + span + ":"
    for name in names { text += "\n  " + Diagnostic.shown(name) }
    text += "\nasked by " + Diagnostic.shown(chain)
    if !reason.isEmpty { text += "\n" + claim }
    return text
  }
}

extension WishSummary {
  /// How many names leave room for all that is said on any screen.
  static let few = 8

  /// What it says of itself: all of it, where that pushes none of the names off the screen.
  fileprivate var claim: String {
    guard reason.count > Claim.longest, names.count <= Self.few else {
      return Claim(reason, of: program).text
    }
    return Claim.whole(reason, of: program)
  }
}

extension VaultAccess {
  /// What can be answered, each with its question.
  fileprivate func terms(
    of wish: WishSummary, by kind: Credential
  ) -> [(term: ApprovedTerm, label: String)] {
    if wish.lifetime == nil {
      return terms(of: "let it read that", by: kind, canChoose: wish.mayLast)
    }
    return [(.asked, question(kind, to: Purpose("let it read that")).label)]
  }
}
