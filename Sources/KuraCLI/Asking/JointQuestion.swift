// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Asking at a terminal for what the programs below one process wish to read there: one question for all of them.
extension VaultAccess {
  /// Has the owner asked together with all who ask at this terminal, by this command or by one of theirs.
  ///
  /// - Returns: Whether he agreed; false where it has to be asked for alone.
  func askTogether(
    _ names: [String], _ item: Refusal.Subject, _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    do throws(ClientError) {
      guard try connection.beginWish(names, wishTerms, flags: .here) else { return true }
    } catch {
      guard case .refused(let refusal) = error,
        [Failure.protected, .unsupported, .tooBusy].contains(refusal.failure)
      else { throw .client(error) }
      return false
    }
    do throws(CommandError) {
      _ = try questioner.awaitTerminal(other: connection.watched)
      return try askForAll(item, &questioner, &connection)
    } catch {
      guard error == .prompt(.answeredElsewhere) else { throw error }
    }
    do throws(ClientError) { try connection.endWish() } catch {
      guard LockFacts(error) != nil else { throw .client(error) }
      return false
    }
    return true
  }

  /// Asks, as often as somebody joins before a key was pressed.
  private func askForAll(
    _ item: Refusal.Subject, _ questioner: inout Questioner, _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    var watch = try JointWatch(try connect(), of: vault)
    while let wish = watch.next() {
      do throws(CommandError) {
        return try ask(wish, item, &questioner, &watch, &connection)
      } catch { try settle(wish, error, &questioner, &watch) }
    }
    throw .prompt(.answeredElsewhere)
  }

  private func ask(
    _ wish: WishSummary, _ item: Refusal.Subject, _ questioner: inout Questioner,
    _ watch: inout JointWatch, _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    let question = try question(wish, &watch)
    var (reply, isAlone) = (GrantReply?.none, false)
    let notices = try questioner.attempts(question, watch: &watch) {
      kind, secret, watch throws(ClientError) in
      let term = watch.choice.term
      do throws(ClientError) {
        var other = try Connection.open(vault, engine: .running)
        let given = try other.approve(wish, term, kind, secret: secret)
        reply = given
        return given.notices
      } catch {
        // Locked while the prompt stood, which was told to who waits as well.
        guard LockFacts(error) != nil else { throw error }
        if !isAlone { do throws(ClientError) { try connection.endWish() } catch {} }
        isAlone = true
        let (notices, given) = try connection.open(
          item, opening, term, kind, secret, asking.reason ?? [])
        reply = given
        return notices
      }
    }
    if !isAlone { try running { () throws(ClientError) in try connection.endWish() } }
    note(notices, after: question.kind)
    if let reply, reply.number > 0 {
      try tell(reply, lasting: watch.choice.term.lifetime ?? 0, &connection)
    }
    return true
  }

  private func question(
    _ wish: WishSummary, _ watch: inout JointWatch
  ) throws(CommandError) -> Question {
    var connection = try connect()
    let report = try running { () throws(ClientError) in try connection.status() }
    let kind = report.lacksPasscode ? .recoveryKey : asking.authority
    var question = try question(kind, &connection, to: nil)
    let purpose =
      wish.names.count == 1 ? "open " + Diagnostic.shown(wish.names[0]) : wish.purpose
    watch.choice = TermChoice(
      terms(of: purpose, by: question.kind, canChoose: wish.mayLast))
    question.label = watch.choice.label
    question.swaps = try swaps(
      for: .reading, question.kind, report, Purpose(purpose), &connection)
    if wish.names.count > 1 || wish.askers.count > 1 { question.remark = wish.words }
    return question
  }

  /// Goes on where something else is asked for by now; a no is one to all that was shown.
  private func settle(
    _ wish: WishSummary, _ error: CommandError, _ questioner: inout Questioner,
    _ watch: inout JointWatch
  ) throws(CommandError) {
    var error = error
    if error == .prompt(.answeredElsewhere) {
      guard watch.isTouched else { return }
      do throws(CommandError) {
        guard try questioner.dropTyped() else { return messages.note(WishWords.changed) }
        error = .prompt(.cancelled)
      } catch let other { error = other }
    }
    if error == .client(.refused(.changedMeanwhile)), watch.hear() {
      return messages.note(WishWords.changed)
    }
    if error == .prompt(.cancelled) || error == .prompt(.interrupted) {
      do throws(ClientError) {
        var connection = try Connection.open(vault, engine: .running)
        try connection.decline(wish)
      } catch {}
    }
    throw error
  }
}

/// Keeps a question at a terminal in step with what is asked for there.
struct JointWatch: ~Copyable, PromptWatch {
  /// How long news are waited for at a time, in ms.
  private static let patience: UInt64 = 3_600_000

  private let vault: VaultPath
  private var connection: Connection
  private var queue = WishQueue()
  private var asked: WishSummary?
  /// Whether there may be news: after a lock there are none, and what is typed at the question unlocks the vault.
  private var isHeard = true
  /// Whether a key was pressed: what is asked for stays as it is.
  private(set) var isTouched = false
  var choice = TermChoice()

  init(_ connection: consuming Connection, of vault: VaultPath) throws(CommandError) {
    self.vault = vault
    self.connection = connection
    do throws(ClientError) {
      try begin(patience: 0)
      queue = try self.connection.endWishes()
      try begin(patience: Self.patience)
    } catch { throw .client(error) }
  }

  private mutating func begin(patience: UInt64) throws(ClientError) {
    try connection.beginWishes(since: queue.state, patience: patience, .own)
  }

  /// What is to be asked; nil: it was answered.
  mutating func next() -> WishSummary? {
    (asked, isTouched) = (queue.all.first, false)
    return asked
  }

  /// Waits for news.
  ///
  /// - Returns: Whether there were any.
  mutating func hear() -> Bool {
    guard isHeard else { return false }
    do throws(ClientError) {
      queue = try connection.endWishes(patience: Self.patience)
      try begin(patience: Self.patience)
    } catch { isHeard = false }
    return isHeard
  }

  var descriptor: Int32 { isHeard ? connection.watched : -1 }
  var isOver: Bool { false }
  var hasChoices: Bool { choice.hasOthers }

  mutating func stands() -> Bool { !hear() || queue.all.first == asked }

  mutating func choose() -> String? { choice.choose() }

  /// Who comes from the first key on is asked for afterwards.
  mutating func noteKey() {
    guard !isTouched else { return }
    isTouched = true
    do throws(ClientError) {
      var other = try Connection.open(vault, engine: .running)
      try other.beginWishes(since: WishesRequest.none, patience: 0, [.own, .closing])
      _ = try other.endWishes()
    } catch {}
  }

  mutating func stepAside() {}
  mutating func comeBack() -> Bool { true }
}
