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
  func words(_ names: [String]) -> String {
    let head =
      reader + " and the programs below it may read" + Self.span(terms.lifetime, terms.uses) + ":"
    return names.reduce(head) { $0 + "\n  " + Diagnostic.plain(Array($1.utf8)) }
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
    let names = try unlocked(holding: &held) { connection throws(ClientError) in
      var names: [String] = []
      for name in wish.names {
        let item = try connection.show(name).item
        if item.facts.protection == .protected { names.append(item.name) }
      }
      return names
    }
    guard !names.isEmpty, var connection = held.connection.take() else { return .unneeded }
    var questioner = try asking.questioner()
    try agree(&questioner)
    let kind = asking.authority
    var secret = held.secret.take()
    if secret == nil { secret = try asking.givenCredential(as: kind) }
    let reply: GrantReply
    if let secret = consume secret {
      reply = try running { () throws(ClientError) in
        try connection.grant(names, wish.terms, kind, secret: secret)
      }
    } else {
      if try answered(names, wish.terms, &connection) { return .elsewhere }
      reply = try askToGrant(wish, names, &questioner, &connection)
    }
    note(reply.notices, after: kind)
    return .here(reply)
  }

  private func askToGrant(
    _ wish: GrantWish, _ names: [String], _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> GrantReply {
    // Nobody gives what he is not shown.
    guard questioner.showsRemarks, patience == nil else {
      throw .noInteraction(.owner("grant this"))
    }
    let report = try running { () throws(ClientError) in try connection.status() }
    let kind = report.lacksPasscode ? .recoveryKey : asking.authority
    var question = try question(kind, &connection, to: Purpose("grant this"))
    question.remark = wish.words(names) + (question.remark.map { "\n" + $0 } ?? "")
    return try questioner.attempts(question) { kind, secret throws(ClientError) in
      try connection.grant(names, wish.terms, kind, secret: secret)
    }
  }
}
