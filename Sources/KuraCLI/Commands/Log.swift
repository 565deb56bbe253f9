// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura log`: tells what was served on this machine, when and to whom.
enum Log {
  static let command = Command(
    "log", [.init("NAME", .optional)],
    abstract: "tell what was served on this machine, when, and to which program",
    options: [
      Option(.lines, letter: "n", .required("N"), help: "only the last N entries"),
      Option(.grants, help: "only grants, wishes and refusals"),
      Option(.verify, help: "print no entries, but whether the log is whole"), Option.json,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let count = try parsing { () throws(UsageError) in
      try arguments.refuse(.verify, with: .lines, .grants)
      guard !arguments.has(.verify) || arguments.operands.isEmpty else {
        throw .operandUnexpected(arguments.operands[0], verb: "log --verify")
      }
      return try arguments.number(.lines, as: UInt64.self)
    }
    let name = try arguments.operands.isEmpty ? nil : invocation.operand(0)
    var lines: [LogLine] = []
    let access = try invocation.access()
    try access.unlocked { connection throws(ClientError) in
      lines = []
      try connection.log { line throws(ClientError) in lines.append(line) }
    }
    let flaws = lines.compactMap { LogWords.flaw(in: $0) }
    let isVerifying = arguments.has(.verify)
    if arguments.has(.grants) {
      lines = lines.filter { line in
        guard case .entry(let entry) = line else { return true }
        return LogWords.isOfGrants(entry.facts)
      }
    }
    lines = chosen(lines, about: name, last: count)
    if arguments.has(.json) {
      try writeJSON(lines, withEntries: !isVerifying, &invocation.output)
    } else {
      if !isVerifying { try write(lines, &invocation) }
      report(lines, flaws, isVerifying: isVerifying, invocation.messages)
    }
    try invocation.output.flush()
    let findings = flaws.count { $0.isTampering }
    guard findings == 0 else { throw .logFindings(findings) }
    return .ok
  }

  /// The entries that are wanted, with all that is wrong with the log.
  private static func chosen(
    _ lines: [LogLine], about name: String?, last count: UInt64?
  ) -> [LogLine] {
    let ofName = lines.filter { line in
      guard let name, case .entry(let entry) = line else { return true }
      return entry.name == name || entry.other == name
    }
    guard let count else { return ofName }
    var left = UInt64(ofName.count { $0.isEntry })
    return ofName.filter { line in
      guard line.isEntry else { return true }
      left -= 1
      return left < count
    }
  }

  private static func report(
    _ lines: [LogLine], _ flaws: [LogWords.Flaw], isVerifying: Bool, _ messages: Messages
  ) {
    for flaw in flaws {
      if flaw.isTampering {
        messages.report(Diagnostic(flaw.text, .integrity))
      } else {
        messages.note(flaw.text)
      }
    }
    guard isVerifying, !flaws.contains(where: { $0.isTampering }) else { return }
    let count = lines.count { if case .entry = $0 { true } else { false } }
    messages.note("the log is whole: \(count) " + (count == 1 ? "entry" : "entries"))
  }
}

// MARK: - For people

extension Log {
  private static func write(
    _ lines: [LogLine], _ invocation: inout Invocation
  ) throws(CommandError) {
    for line in lines {
      switch line {
      case .entry(let entry): try write(entry, &invocation.output)
      case .dropped(let count) where count > 0:
        invocation.messages.note(
          "\(count) older " + (count == 1 ? "entry was" : "entries were")
            + " dropped, as the setting log-entries says")
      case .dropped, .finding: break
      }
    }
  }

  private static func write(_ entry: LogEntry, _ output: inout Output) throws(CommandError) {
    let facts = entry.facts
    try output.write(Moment.local(facts.time) + "  ")
    if let remark = LogWords.remark(facts) { return try output.write("# " + remark + "\n") }
    try output.write(HelpText.pad(LogWords.action(facts), 14))
    try output.write(escaped: LogWords.subject(entry))
    try write(client: facts, &output)
    try output.write("\n")
  }

  private static func write(
    client facts: LogFacts, _ output: inout Output
  ) throws(CommandError) {
    guard facts.process != 0 else { return }
    try output.write("  by ")
    try output.write(escaped: facts.program.span)
    try output.write("(\(facts.process))")
    if facts.parent != 0 {
      try output.write(" of ")
      try output.write(escaped: facts.parentProgram.span)
      try output.write("(\(facts.parent))")
    }
    guard !facts.terminal.isEmpty else { return }
    try output.write(" on ")
    try output.write(escaped: facts.terminal.span)
  }
}

// MARK: - For programs

extension Log {
  private static func writeJSON(
    _ lines: [LogLine], withEntries: Bool, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    var dropped: UInt64 = 0
    for case .dropped(let count) in lines { dropped = count }
    try output.member("dropped", dropped)
    if withEntries {
      try output.key("entries")
      try output.openArray()
      for case .entry(let entry) in lines { try writeJSON(entry, &output) }
      try output.closeArray()
    }
    try output.key("findings")
    try output.openArray()
    for line in lines {
      guard let flaw = LogWords.flaw(in: line) else { continue }
      try output.openObject()
      try output.member("code", UInt64(flaw.code))
      try output.member("text", flaw.text)
      try output.member("entry", flaw.number)
      try output.member("tampering", flaw.isTampering)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func writeJSON(
    _ entry: LogEntry, _ output: inout Output
  ) throws(CommandError) {
    let facts = entry.facts
    try output.openObject()
    try output.member("number", entry.number)
    try output.member("time", moment: facts.time)
    try output.member("action", LogWords.word(facts))
    try output.member("code", UInt64(facts.code))
    try output.member("detail", LogWords.detail(facts))
    if LogWords.grant(facts) > 0 { try output.member("grant", LogWords.grant(facts)) }
    try output.member("while-locked", entry.wasLocked)
    try output.member("name", entry.name)
    try output.member("other", entry.other)
    try output.member("pid", UInt64(facts.process))
    try output.member("program", bytes: facts.program.span)
    try output.member("parent-pid", UInt64(facts.parent))
    try output.member("parent-program", bytes: facts.parentProgram.span)
    try output.member("terminal", bytes: facts.terminal.span)
    try output.closeObject()
  }
}

extension LogLine {
  fileprivate var isEntry: Bool { if case .entry = self { true } else { false } }
}
