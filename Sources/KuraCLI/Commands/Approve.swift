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

  /// How long the unlock is waited for at a time, in ms.
  private static let patience: UInt64 = 3_600_000

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.agentAccess(verb: command.verb)
    let isQuiet = invocation.messages.isQuiet
    _ = try person(access)
    try access.unlocked { connection throws(ClientError) in
      try connection.beginWishes(since: WishQueue().state, patience: 0)
      _ = try connection.endWishes()
    }
    // From here on nothing is shown of what is typed, not even while the vault is locked.
    var questioner = try person(access)
    var isFull = false
    while true {
      do throws(CommandError) {
        try questioner.rest()
        try awaitUnlock(access)
        var watch = try ApprovalWatch(try access.connect())
        isFull = false
        if !isQuiet {
          access.messages.note("programs that ask are answered here; Ctrl-C ends that")
        }
        try answer(&questioner, &watch, access)
      } catch {
        if case .client(.refused(.locked)) = error {
          access.messages.note("the vault was locked; what is asked for is gone with it")
          continue
        }
        guard error.isPassing else { throw error }
        if !isFull { access.messages.note("the agent has no room at present; that is tried again") }
        isFull = true
        kura_pause(1_000)
      }
    }
  }

  /// Nobody is asked where nobody sees all of it, or where a program that asks may see it, too.
  private static func person(_ access: VaultAccess) throws(CommandError) -> Questioner {
    let questioner = try access.asking.questioner()
    guard questioner.showsRemarks, questioner.isAtOwnPlace else {
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
    _ questioner: inout Questioner, _ watch: inout ApprovalWatch, _ access: VaultAccess
  ) throws(CommandError) {
    var untold = 0
    while true {
      if watch.queue.untold > untold { access.messages.note(elsewhere) }
      untold = watch.queue.untold
      if let wish = watch.ask() {
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
    var question = try question(wish, access)
    watch.choice = TermChoice(
      access.terms(of: wish, by: question.kind, canChoose: questioner.hasTerminal))
    (question.label, question.remark) = (watch.choice.label, wish.words)
    do throws(CommandError) {
      let reply = try questioner.attempts(question, watch: &watch) {
        kind, secret, watch throws(ClientError) in
        // One that was silent as long as a question stands may be gone.
        var connection = try Connection.open(access.vault, engine: .started)
        return try connection.approve(wish, watch.choice.term, kind, secret: secret)
      }
      access.note(reply.notices, after: question.kind)
      return true
    } catch { return try settle(wish, error, &questioner, &watch, access) }
  }

  private static func question(
    _ wish: WishSummary, _ access: VaultAccess
  ) throws(CommandError) -> Question {
    var connection = try access.connect()
    let report = try running { () throws(ClientError) in try connection.status() }
    let kind = report.lacksPasscode ? .recoveryKey : access.asking.authority
    return try access.question(kind, &connection, to: nil)
  }

  /// Says no where the owner does, and goes on where it was answered elsewhere, is asked otherwise by now, or cannot be
  /// given or asked for here.
  ///
  /// - Returns: Whether something else is asked for now, or will be at once.
  private static func settle(
    _ wish: WishSummary, _ error: CommandError, _ questioner: inout Questioner,
    _ watch: inout ApprovalWatch, _ access: VaultAccess
  ) throws(CommandError) -> Bool {
    let isChange = error == .prompt(.answeredElsewhere)
    if isChange {
      try watch.check()
      watch.putBack(wish)
    }
    // A no is to all of it, whatever it has become.
    let isNo = try isChange ? questioner.dropTyped() : error == .prompt(.cancelled)
    // Ctrl-C does what it does where nothing is asked.
    try questioner.rest()
    if isNo {
      access.messages.note(try decline(wish, access) ? "refused" : changed)
      return true
    }
    if isChange {
      access.messages.note(changed)
      return true
    }
    if error == .client(.refused(.changedMeanwhile)) {
      access.messages.note(WishWords.changed)
      watch.putBack(wish)
      return true
    }
    guard error.isOfWish else { throw error }
    access.messages.report(Diagnostic(error))
    if error.isOfPlace { watch.leave(wish) }
    if case .throttled(let wait, _) = error { kura_pause(Int32(min(wait, 60_000))) }
    return error.endsWish
  }

  private static let changed = "that is not asked any more, or not so"

  /// - Returns: Whether it was asked for still.
  private static func decline(
    _ wish: WishSummary, _ access: VaultAccess
  ) throws(CommandError) -> Bool {
    var connection = try access.connect()
    do throws(ClientError) { try connection.decline(wish) } catch {
      guard case .refused(.changedMeanwhile) = error else { throw .client(error) }
      return false
    }
    return true
  }
}

extension CommandError {
  /// Whether the agent had no room for it, and may have some in a moment.
  fileprivate var isPassing: Bool {
    [.client(.hungUp), .client(.refused(.busy)), .client(.refused(.tooBusy))].contains(self)
  }

  /// Whether what is asked for, and nothing else, cannot be answered here now.
  fileprivate var isOfWish: Bool {
    if case .throttled = self { return true }
    if case .client(.refused(let refusal)) = self {
      return refusal.failure != .locked && !isPassing
    }
    return isOfPlace
  }

  /// Whether what shows questions here does not show this one.
  fileprivate var isOfPlace: Bool {
    guard case .program(let fault, _) = self else { return false }
    return fault != .notStarted
  }

  /// Whether what is asked for is so no more, as nobody can give it.
  fileprivate var endsWish: Bool {
    guard case .client(.refused(let refusal)) = self else { return false }
    return [.notFound, .processGone, .processUnfit, .damaged].contains(refusal.failure)
  }
}

extension VaultAccess {
  /// What can be answered, each with its question. How many names there are stands where it cannot be scrolled away.
  fileprivate func terms(
    of wish: WishSummary, by kind: Credential, canChoose: Bool
  ) -> [(term: ApprovedTerm, label: String)] {
    if wish.lifetime == nil {
      return terms(of: wish.purpose, by: kind, canChoose: canChoose && wish.mayLast)
    }
    return [(.asked, question(kind, to: Purpose(wish.purpose)).label)]
  }
}
