// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper askpass`: answers ssh, ssh-add, sudo and git, which run it to ask for a
/// secret. What an item holds is answered from the vault; everything else is a person's to answer.
enum Askpass {
  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let text = invocation.arguments.operands.dropFirst().joined(separator: [0x20])
    let question = Array(text)
    switch AskpassPrompt(question, surroundings(invocation.variables)) {
    case .confirm: try confirm(question, invocation)
    case .notice: show(question, invocation.messages)
    case .person(let isVisible): try ask(question, isVisible: isVisible, .unknown, &invocation)
    case .item(let name):
      if let miss = try answer(name, &invocation) {
        try ask(question, isVisible: false, miss, &invocation)
      }
    case .git(let place, let wantsUser):
      if let miss = try answer(place, wantsUser: wantsUser, &invocation) {
        try ask(question, isVisible: wantsUser, miss, &invocation)
      }
    }
    return .ok
  }

  private static func surroundings(_ variables: Variables) -> AskpassPrompt.Surroundings {
    AskpassPrompt.Surroundings(
      hint: variables["SSH_ASKPASS_PROMPT"], caller: (try? System.parentName()) ?? [],
      directory: (try? System.currentDirectory()) ?? [])
  }
}

// MARK: - From the vault

/// Tells why the vault does not answer what a program asks.
private enum Miss: Equatable, Sendable {
  /// The words are none that an item could answer.
  case unknown
  /// No item has that name.
  case noItem(String)
  /// The same process was given the item's value already.
  case given(String)
}

extension Askpass {
  /// Prints an item's value.
  ///
  /// - Returns: Why not; nil when it was printed.
  private static func answer(
    _ name: String, _ invocation: inout Invocation
  ) throws(CommandError) -> Miss? {
    var value = try CredentialValue()
    let isThere = try invocation.access().reading(name).unlocked(authorizing: true) {
      connection throws(ClientError) in
      try connection.read(name, into: &value)
    }
    guard isThere else { return .noItem(name) }
    try value.checkLine(name)
    guard try GivenAnswer.note(name, value.revision) else { return .given(name) }
    try print(value.bytes, &invocation.output)
    return nil
  }

  /// Prints what is known of a place's user or password.
  ///
  /// - Returns: Why not; nil when it was printed.
  private static func answer(
    _ place: GitPlace, wantsUser: Bool, _ invocation: inout Invocation
  ) throws(CommandError) -> Miss? {
    var value = try CredentialValue()
    let found = try invocation.access().reading(.refused).unlocked(authorizing: !wantsUser) {
      connection throws(ClientError) -> GitCandidate? in
      guard let best = try place.candidates(&connection).first, !best.isExpired else { return nil }
      if !wantsUser {
        guard try connection.read(best.item.name, into: &value) else { return nil }
      }
      return best
    }
    guard let found else { return .noItem(place.wanted) }
    try value.checkLine(found.item.name)
    try GitCredential.checkUser(found)
    if wantsUser {
      try print(found.user.span, &invocation.output)
    } else {
      guard try GivenAnswer.note(found.item.name, value.revision) else {
        return .given(found.item.name)
      }
      try print(value.bytes, &invocation.output)
    }
    return nil
  }

  private static func print(_ answer: Span<UInt8>, _ output: inout Output) throws(CommandError) {
    try output.write(answer)
    try output.write("\n")
  }
}

// MARK: - From a person

extension Askpass {
  /// Hands a question on to a person, and the answer back.
  private static func ask(
    _ question: [UInt8], isVisible: Bool, _ miss: Miss, _ invocation: inout Invocation
  ) throws(CommandError) {
    let asking = Asking(invocation.arguments, invocation.variables)
    if case .given(let name) = miss {
      invocation.messages.note(
        "this program was given the value of " + Diagnostic.shown(name)
          + " already, and asks again: it seems to be wrong")
    }
    let answer = try asking.typed(
      lines(question), isHidden: !isVisible, orElse: unanswered(question, miss))
    try print(typed: answer, &invocation.output)
  }

  /// What was asked, and what was looked for: a name that is mistyped is found only so.
  private static func unanswered(_ question: [UInt8], _ miss: Miss) -> CommandError {
    var asked = question.prefix(200)
    while asked.last == 0x20 { asked.removeLast() }
    let hint =
      switch miss {
      case .unknown: "run it at a terminal; no item answers a question like this"
      case .noItem(let name):
        "run it at a terminal, or store the answer as the item " + Diagnostic.shown(name)
      case .given(let name):
        Diagnostic.shown(name) + " was given to this program already, and seems to be wrong: put"
          + " another value there with --replace"
      }
    return .failure(
      "only a person can answer this, and nobody can be asked: "
        + Diagnostic.quoted(Array(asked)), hint: hint, .needsInteraction)
  }

  private static func print(
    typed answer: borrowing SecretBytes, _ output: inout Output
  ) throws(CommandError) {
    try print(answer.bytes, &output)
  }

  /// Asks for a yes. Its status is the answer.
  private static func confirm(
    _ question: [UInt8], _ invocation: borrowing Invocation
  ) throws(CommandError) {
    var questioner = try Asking(invocation.arguments, invocation.variables).questioner()
    guard questioner.hasTerminal else { throw .nobodyToAsk }
    var lines = lines(question)
    let last = lines.popLast() ?? ""
    for line in lines { questioner.prompt?.say(line) }
    let isYes = try prompting { () throws(PromptError) in
      try questioner.prompt?.confirms(last) ?? false
    }
    guard isYes else { throw .failure("refused", .cancelled) }
  }

  /// Shows a text that wants no answer.
  private static func show(_ text: [UInt8], _ messages: Messages) {
    for line in lines(text) { messages.write(line + "\n") }
  }

  /// The lines of a text that others wrote, with nothing in them that a terminal obeys.
  private static func lines(_ text: [UInt8]) -> [String] {
    text.split(separator: UInt8(ascii: "\n")).map { Diagnostic.shown(Array($0)) }
  }
}

extension Asking {
  /// What a person types below some lines and behind the last of them.
  ///
  /// - Parameter refusal: What to say where nobody can be asked.
  func typed(
    _ lines: [String], isHidden: Bool,
    orElse refusal: @autoclosure () -> CommandError = .nobodyToAsk
  ) throws(CommandError) -> SecretBytes {
    var questioner = try questioner()
    guard questioner.canAsk else { throw refusal() }
    for line in lines.dropLast() { questioner.prompt?.say(line) }
    let answer = try questioner.ask(lines.last ?? "", isHidden: isHidden)
    questioner.endLine()
    return answer
  }
}

extension CommandError {
  fileprivate static var nobodyToAsk: CommandError {
    .failure(
      "only a person can answer that, and nobody can be asked", hint: "run it at a terminal",
      .needsInteraction)
  }
}
