// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Does `kura grant`: lets a program read protected values for a while, lists what stands, and ends it.
enum GrantControl {
  /// How long one lasts where nothing is said, in ms.
  private static let standard: UInt64 = 900_000

  static let command = Command(
    "grant", [.init("add|list|revoke"), .init("NAME|N", .any)],
    abstract: "let a program read protected values for a while, or no longer",
    options: [
      Option(.pid, .required("N"), help: "to process N and those below it"),
      Option(.forTime, .required("TIME"), help: "for TIME, in place of 15m; 24h at most"),
      Option(.uses, .required("N"), help: "for N values that are read"),
      Option(.all, help: "end all that stand"),
      Option.json,
    ] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  /// Names what can be done with grants.
  private enum Action: String, CaseIterable {
    case add, list, revoke

    /// Refuses what belongs to another action.
    func check(_ arguments: Arguments) throws(UsageError) {
      let taken: [OptionName] =
        switch self {
        case .add: [.pid, .forTime, .uses, .recoveryKey, .recoveryKeyFile]
        case .list: [.json]
        case .revoke: [.all]
        }
      for option in GrantControl.command.options where arguments.has(option.name) {
        guard !taken.contains(option.name) else { continue }
        throw .optionUnexpected(option.name, verb: "grant " + rawValue)
      }
    }
  }

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let word = invocation.arguments.operands[0]
    let operands = Array(invocation.arguments.operands.dropFirst())
    guard let action = Action.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word) }) else {
      throw .usage(
        "grant does not know " + Diagnostic.quoted(word), hint: "say add, list or revoke")
    }
    try parsing { [arguments = invocation.arguments] () throws(UsageError) in
      try action.check(arguments)
    }
    let access = try invocation.agentAccess(verb: command.verb)
    switch action {
    case .add: try add(operands, access, invocation.arguments)
    case .list:
      if let operand = operands.first {
        throw .usage(.operandUnexpected(operand, verb: "grant list"))
      }
      try list(access, &invocation)
    case .revoke: try revoke(operands, access, invocation.arguments)
    }
    return .ok
  }
}

// MARK: - Adding

extension GrantControl {
  private static func add(
    _ names: [[UInt8]], _ access: VaultAccess, _ arguments: Arguments
  ) throws(CommandError) {
    guard !names.isEmpty else { throw .usage(.operandMissing("NAME", verb: "grant add")) }
    let process = try parsing { () throws(UsageError) in
      try arguments.number(.pid, atLeast: UInt32(1))
    }
    let wish = try GrantWish(
      names, to: process == nil ? .program : .process, process: process ?? 0, lasting: standard,
      reader: process.map { "process \($0)" } ?? "the program that asks", arguments)
    let outcome = try access.grant(wish) { questioner throws(CommandError) in
      guard let process, kura_ancestor_distance(Int32(clamping: process)) > 1 else { return }
      try agree(to: process, &questioner)
    }
    guard case .here(let reply) = outcome, reply.number > 0 else {
      guard case .elsewhere = outcome else {
        return access.messages.note("nothing is to be granted: this is read without the passcode")
      }
      return
    }
    let others = names.count - Int(reply.granted)
    let rest = others > 0 ? "; \(others) more are read without the passcode" : ""
    access.messages.note(
      "grant \(reply.number): \(reply.granted) of the vault's values"
        + GrantWish.span(wish.terms.lifetime, wish.terms.uses) + rest)
  }

  /// Asks about a process above the one that asks: all that runs there would have it.
  private static func agree(
    to process: UInt32, _ questioner: inout Questioner
  ) throws(CommandError) {
    let answer = try prompting { () throws(PromptError) in
      try questioner.prompt?.confirms(
        "process \(process) is above what you type this in: all below it could read this; grant it"
          + " all the same?")
    }
    guard let answer else { throw .noInteraction(.owner("grant this to process \(process)")) }
    guard answer else { throw .prompt(.cancelled) }
  }
}

// MARK: - Listing and ending

extension GrantControl {
  private static func list(
    _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    var grants: [GrantSummary] = []
    try access.unlocked { connection throws(ClientError) in grants = try connection.grants() }
    if invocation.arguments.has(.json) { return try writeJSON(grants, &invocation.output) }
    for grant in grants { try write(grant, &invocation.output) }
  }

  private static func write(
    _ grant: GrantSummary, _ output: inout Output
  ) throws(CommandError) {
    let left = TimeSpan(milliseconds: grant.left).words
    let uses = grant.uses.map { $0 == 1 ? ", one use" : ", \($0) uses" } ?? ""
    let program = Diagnostic.shown(grant.program) + " (\(grant.process))"
    // What the setting has served again has no number: it ends with all others, or by itself.
    let number = grant.number == 0 ? "-" : "\(grant.number)"
    try output.write(number + "\t" + program + "\t" + left + uses)
    if grant.number == 0 { try output.write("\t" + Setting.reuseWindow.name) }
    if !grant.reason.isEmpty { try output.write("\t" + Diagnostic.shown(grant.reason)) }
    try output.write("\n")
    for name in grant.names {
      try output.write("\t")
      try output.write(escaped: name)
      try output.write("\n")
    }
  }

  private static func writeJSON(
    _ grants: [GrantSummary], _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.key("grants")
    try output.openArray()
    for grant in grants {
      try output.openObject()
      try output.member("number", grant.number)
      try output.member("pid", UInt64(grant.process))
      try output.member("program", bytes: grant.program.span)
      try output.member("left", grant.left)
      if let uses = grant.uses { try output.member("uses", UInt64(uses)) }
      if !grant.reason.isEmpty { try output.member("reason", bytes: grant.reason.span) }
      try output.key("names")
      try output.openArray()
      for name in grant.names { try output.element(name) }
      try output.closeArray()
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func revoke(
    _ operands: [[UInt8]], _ access: VaultAccess, _ arguments: Arguments
  ) throws(CommandError) {
    guard arguments.has(.all) != !operands.isEmpty else {
      throw .usage("grant revoke needs N or --all", hint: "'kura grant list' shows the numbers")
    }
    guard var connection = try access.connectRunning() else { throw .client(.noAgent) }
    if operands.isEmpty {
      _ = try running { () throws(ClientError) in try connection.revokeGrants() }
      return
    }
    for operand in operands {
      guard let number = Decimal.parse(operand[...]), number > 0 else {
        throw .usage(
          Diagnostic.quoted(operand) + " is not a grant's number",
          hint: "'kura grant list' shows them")
      }
      let count = try running { () throws(ClientError) in try connection.revokeGrants(number) }
      guard count > 0 else {
        throw .failure(
          "there is no grant \(number), or no longer",
          hint: "'kura grant list' shows those there are",
          .notFound)
      }
    }
  }
}
