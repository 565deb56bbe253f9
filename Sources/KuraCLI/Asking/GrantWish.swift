// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds what an owner is asked to let a program read, as it is shown.
struct GrantWish {
  /// How many names a person is shown at once.
  static let mostNames = ProtocolLimit.asked

  let names: [String]
  var terms: GrantTerms
  /// Who is to read it, in words for people.
  let reader: String
  /// Whether a file has the names, which no person has seen yet.
  var isDeclared = false
  /// Where it is remembered what was agreed to; nil: nowhere.
  var set: GrantedSet?

  /// Takes the time, the uses and the reason from the options.
  init(
    _ names: [[UInt8]], to scope: GrantScope, process: UInt32 = 0, lasting standard: UInt64,
    reader: String, _ arguments: Arguments
  ) throws(CommandError) {
    var texts: [String] = []
    for name in names {
      let text = try Invocation.text(name)
      if !texts.contains(text) { texts.append(text) }
    }
    guard texts.count <= Self.mostNames else {
      throw .usage(
        "a question names at most \(Self.mostNames) items, and these are \(texts.count)",
        hint: "grant them in parts")
    }
    self.names = texts
    self.reader = reader
    let (lifetime, uses) = try parsing { () throws(UsageError) in
      (
        try arguments.duration(.forTime),
        try arguments.number(.uses, atLeast: UInt32(1))
      )
    }
    if let lifetime, lifetime > ProtocolLimit.grantTime {
      throw .usage("a grant lasts a day at most", hint: "write --for 24h or less")
    }
    let reason = arguments.value(.reason) ?? []
    guard reason.count <= ProtocolLimit.reason else {
      throw .usage("the reason is too long", hint: "say it in \(ProtocolLimit.reason) bytes")
    }
    terms = GrantTerms(
      to: scope, process: process, lifetime: lifetime ?? standard, uses: uses, reason: reason)
  }

  /// What is asked for: every name on a line of its own.
  func words(_ items: [Item]) -> String {
    let now = Clock.unix()
    var text =
      reader + " and the programs below it may read" + Self.span(terms.lifetime, terms.uses)
    text += (set.map { "; " + $0.head(now: now) } ?? "") + ":"
    for (index, item) in items.enumerated() {
      let name = Diagnostic.plain(Array(item.name.utf8))
      text += "\n" + Claim.wrapped("  " + (set?.words(index, now: now) ?? "") + name)
    }
    return text
  }

  /// For how long, where that is said, and how often: `, for 15 min, 3 times`.
  static func span(_ lifetime: UInt64?, _ uses: UInt32?) -> String {
    let time = lifetime.map { ", for " + TimeSpan(milliseconds: $0).words } ?? ""
    guard let uses else { return time }
    return time + (uses == 1 ? ", once" : ", \(uses) times")
  }
}

/// Says what became of what an owner was asked to grant.
enum GrantOutcome {
  /// None of the items is protected.
  case unneeded
  case here(GrantReply)
  /// The owner agreed at another terminal.
  case elsewhere
}

extension VaultAccess {
  /// Has the owner grant what is wished for.
  ///
  /// - Parameter agree: Asks once more, before the passcode, where that is needed.
  func grant(
    _ wish: GrantWish,
    agreed agree: (inout Questioner) throws(CommandError) -> Void = { _ throws(CommandError) in }
  ) throws(CommandError) -> GrantOutcome {
    var held = Held(keepsSecret: true)
    let items = try unlocked(holding: &held) { connection throws(ClientError) in
      var items: [Item] = []
      for name in wish.names {
        let item = try connection.show(name).item
        if item.facts.protection == .protected { items.append(item) }
      }
      return items
    }
    guard !items.isEmpty, var connection = held.connection.take() else { return .unneeded }
    var questioner = try asking.questioner()
    try agree(&questioner)
    let kind = asking.authority
    var secret = held.secret.take()
    // What was typed to unlock the vault was no answer to this.
    if wish.isDeclared, held.secret.isTyped { secret = nil }
    if secret == nil { secret = try asking.givenCredential(as: kind) }
    let names = items.map { $0.name }
    if let secret = consume secret {
      let reply = try running { () throws(ClientError) in
        try connection.grant(names, wish.terms, kind, secret: secret)
      }
      note(reply.notices, after: kind)
      return .here(reply)
    }
    return try ask(wish, items, &questioner, &connection)
  }

  /// Asks the owner, elsewhere or here, and remembers what he agreed to.
  private func ask(
    _ wish: GrantWish, _ items: [Item], _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> GrantOutcome {
    var (wish, outcome) = (wish, GrantOutcome.elsewhere)
    try running { () throws(ClientError) in try wish.set?.compare(items, &connection) }
    var terms = wish.terms
    // Whoever asks elsewhere is told what this program knows as its words, which they are there.
    if let set = wish.set {
      terms.reason = set.claim(items, behind: terms.reason, now: Clock.unix())
    }
    if try !answered(items.map { $0.name }, terms, &connection) {
      outcome = .here(try askToGrant(wish, items, &questioner, &connection))
    }
    do throws(CommandError) { try wish.set?.keep(items, &connection) } catch {
      messages.note("it is not remembered what was granted: " + Diagnostic(error).message)
    }
    return outcome
  }

  private func askToGrant(
    _ wish: GrantWish, _ items: [Item], _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> GrantReply {
    // Nobody gives what he is not shown.
    guard questioner.showsRemarks, patience == nil else {
      throw .noInteraction(.owner("grant this"))
    }
    let report = try running { () throws(ClientError) in try connection.status() }
    let kind = report.lacksPasscode ? .recoveryKey : asking.authority
    var question = try question(kind, &connection, to: Purpose("grant this"))
    question.remark = wish.words(items) + (question.remark.map { "\n" + $0 } ?? "")
    let reply = try questioner.attempts(question) { kind, secret throws(ClientError) in
      try connection.grant(items.map { $0.name }, wish.terms, kind, secret: secret)
    }
    note(reply.notices, after: kind)
    return reply
  }
}
