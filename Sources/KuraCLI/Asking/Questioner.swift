// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Asks for a secret: a person at the terminal, or through a program that asks one, or nobody.
struct Questioner: ~Copyable {
  var prompt: Prompt?
  /// Where a question stands, for people at other prompts to read.
  let place: String
  private let program: AskingProgram?
  private var pinentry: Pinentry?
  /// What went wrong last, for a program to show.
  private var complaint = ""

  /// What is said below the question by a program that shows more than a line.
  private var remark: String?

  /// How often the answer may yet be wrong.
  private var left = 3

  /// A person at a terminal.
  init(_ prompt: consuming Prompt) {
    place = prompt.name
    self.prompt = consume prompt
    program = nil
  }

  /// Nobody at a terminal.
  ///
  /// - Parameter program: What asks in its place; nil: nothing does.
  init(_ program: AskingProgram?) {
    place = program?.name ?? ""
    prompt = nil
    self.program = program
  }

  /// Whether a person looks at a terminal, and can be shown something.
  var hasTerminal: Bool { prompt != nil }

  /// Whether anybody can be asked for a secret.
  var canAsk: Bool { hasTerminal || program != nil }

  /// Whether a person is shown more than a line: an askpass has the question as its argument, and no more.
  var showsRemarks: Bool {
    if hasTerminal { return true }
    guard let program, case .pinentry = program.kind else { return false }
    return true
  }

  /// Whether what it shows stands at the person's own place, not at a terminal that a variable names.
  var isAtOwnPlace: Bool {
    guard !hasTerminal, case .pinentry(let surface) = program?.kind else { return hasTerminal }
    return surface.terminal == nil
  }
}

// MARK: - Questions

extension Questioner {
  /// Asks for a credential until it is right, three times at most.
  ///
  /// - Parameters:
  ///   - watch: As for a line at the terminal.
  ///   - body: Tries it. A refusal as wrong asks again; anything else ends.
  mutating func attempts<Value, Watch: PromptWatch & ~Copyable>(
    _ question: Question, watch: inout Watch,
    _ body: (Credential, borrowing SecretBytes, inout Watch) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var value: Value?
    _ = try answer(to: question, watch: &watch) { kind, secret, watch throws(ClientError) in
      value = try body(kind, secret, &watch)
      return nil
    }
    guard let value else { throw .prompt(.failed) }
    return value
  }

  /// The same where nobody else cares.
  mutating func attempts<Value>(
    _ question: Question,
    _ body: (Credential, borrowing SecretBytes) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var nobody = NobodyElse()
    return try attempts(question, watch: &nobody) { kind, secret, _ throws(ClientError) in
      try body(kind, secret)
    }
  }

  /// Asks for a credential until it will do, three times at most; nobody is asked while none may be tried.
  ///
  /// - Parameter body: Tries it. A refusal as wrong asks again; so does a sentence, which says that it is a
  ///   code where none will do.
  /// - Returns: What was typed.
  @inline(never)
  mutating func answer<Watch: PromptWatch & ~Copyable>(
    to question: Question, watch: inout Watch,
    _ body: (Credential, borrowing SecretBytes, inout Watch) throws(ClientError) -> String?
  ) throws(CommandError) -> SecretBytes {
    // What is said belongs to this question, not into that of another command.
    _ = try prompting { () throws(PromptError) in
      try prompt?.takeTerminal(other: watch.descriptor) { watch.stands() }
    }
    var question = try begin(question, &watch)
    while true {
      let secret = try ask(
        question.label, open: question.openLabel, isHidden: true,
        allowsEmpty: question.enterRemark != nil || !question.swaps.isEmpty,
        submitsAt: question.submitLength, watch: &watch)
      if prompt?.wantsOther == true {
        prompt?.clearLine()
        if question.kind == .tpm || question.kind == .fido2 {
          turn(&question)
          continue
        }
        if let label = watch.choose() {
          question.label = label
          continue
        }
        (question.label, question.kind, question.submitLength) = (question.otherLabel, .passcode, 0)
        continue
      }
      if secret.count == 0, !question.swaps.isEmpty {
        prompt?.clearLine()
        turn(&question)
        guard question.isTouched else { continue }
      }
      let complaint = try attempt(secret, question, &watch, body)
      // Keys that were meant for the prompt must not reach what comes next.
      if question.submitLength > 0 { prompt?.dropTyped() }
      guard let complaint else {
        prompt?.endLine()
        endProgram()
        return secret
      }
      prompt?.say(complaint.text)
      self.complaint = complaint.textWithWait
      if complaint.wait > 0, hasTerminal { try countDown(complaint.wait, &watch) }
    }
  }

  /// Goes on to the next question, and says what there is to do beside an answer.
  private mutating func turn(_ question: inout Question) {
    question.turnOver()
    if question.kind == .fido2 { prompt?.say(KeyTouch.remark(isAlone: question.isTouched)) }
  }

  /// Says what belongs to a question, and waits until its answer may be tried.
  private mutating func begin<Watch: PromptWatch & ~Copyable>(
    _ question: Question, _ watch: inout Watch
  ) throws(CommandError) -> Question {
    var question = question
    if !hasTerminal { question.swaps = [] }
    // Who gives up while he waits has seen what he says no to.
    if let remark = question.remark { prompt?.say(remark) }
    if let remark = question.enterRemark { prompt?.say(remark) }
    if let remark = question.swapRemark { prompt?.say(remark) }
    // While passcodes wait the TPM may take a code, and a security key its PIN.
    if question.wait > 0, let next = question.swaps.first, next.wait == 0, !next.isTouched {
      turn(&question)
    }
    if question.wait > 0 { try waitToAsk(question, &watch) }
    remark = question.remark
    return question
  }

  /// Tries what was typed, again after a wait that somebody else has brought about: it is kept meanwhile.
  ///
  /// - Returns: Why it will not do; nil when it does.
  @inline(never)
  private mutating func attempt<Watch: PromptWatch & ~Copyable>(
    _ secret: borrowing SecretBytes, _ question: Question, _ watch: inout Watch,
    _ body: (Credential, borrowing SecretBytes, inout Watch) throws(ClientError) -> String?
  ) throws(CommandError) -> Complaint? {
    while true {
      let text: String?
      do throws(ClientError) { text = try body(question.kind, secret, &watch) } catch {
        if watch.isOver {
          prompt?.clearLine()
          throw .prompt(.answeredElsewhere)
        }
        guard let wait = error.wait, canWait(wait) else {
          return try complaint(of: error, question)
        }
        prompt?.clearLine()
        try countDown(wait, &watch)
        continue
      }
      guard let text else { return nil }
      prompt?.clearLine()
      left -= 1
      guard left > 0 else { throw .codeForPasscode }
      return Complaint(text)
    }
  }

  /// Takes a credential back that was wrong; ends where another try is of no use.
  private mutating func complaint(
    of error: ClientError, _ question: Question
  ) throws(CommandError) -> Complaint {
    let complaint = Complaint(
      error, isCode: question.isCode || question.kind == .tpm)
    if complaint == nil { prompt?.clearLine() } else { prompt?.takeBack() }
    left -= 1
    guard left > 0, let complaint else { throw .client(error) }
    return complaint
  }

  /// Asks once. The cursor stays on the line.
  ///
  /// - Parameter openLabel: The question where all users can read it; nil for the same one.
  mutating func ask<Watch: PromptWatch & ~Copyable>(
    _ label: String, open openLabel: String? = nil, isHidden: Bool, allowsEmpty: Bool = false,
    submitsAt length: Int = 0, watch: inout Watch
  ) throws(CommandError) -> SecretBytes {
    if prompt == nil { return try askProgram(label, openLabel, &watch) }
    do throws(PromptError) {
      guard
        let secret = try prompt?.line(
          label, isHidden: isHidden, allowsEmpty: allowsEmpty, submitsAt: length, watch: &watch)
      else {
        throw PromptError.failed
      }
      return secret
    } catch { throw .prompt(error) }
  }

  /// The same where nobody else cares.
  mutating func ask(_ label: String, isHidden: Bool) throws(CommandError) -> SecretBytes {
    var nobody = NobodyElse()
    return try ask(label, isHidden: isHidden, watch: &nobody)
  }

  /// Waits until no other command asks at this terminal.
  ///
  /// - Parameter other: A descriptor that has something to read once nothing is to be asked any more.
  /// - Returns: Whether one did.
  mutating func awaitTerminal(other: Int32 = -1) throws(CommandError) -> Bool {
    try prompting { () throws(PromptError) in try prompt?.takeTerminal(other: other) } ?? false
  }

  /// Asks for a new secret, twice.
  ///
  /// - Parameter remark: What is said of it after the first time.
  mutating func twice(
    _ label: String, _ what: Mismatch, again: String = "again: ",
    remark: (borrowing SecretBytes) -> String
  ) throws(CommandError) -> SecretBytes {
    guard prompt == nil else {
      guard let secret = try prompt?.twice(label, what, again: again, remark: remark) else {
        throw .prompt(.failed)
      }
      return secret
    }
    var nobody = NobodyElse()
    let first = try askProgram(label, nil, &nobody)
    let second = try askProgram(again, nil, &nobody)
    guard first.isEqual(to: second) else { throw .mismatch(what) }
    return first
  }

  /// Makes ready for another question.
  mutating func renew() {
    left = 3
    complaint = ""
    endProgram()
  }

  /// Waits, with the terminal as it is for a question, until there is another one.
  mutating func rest() throws(CommandError) {
    do throws(PromptError) { try prompt?.rest() } catch { throw .prompt(error) }
  }

  /// Rings, and drops what is typed until nobody types: it was meant for a question that is gone.
  ///
  /// - Returns: Whether that was no answer but a no; Ctrl-C ends here, too.
  mutating func dropTyped() throws(CommandError) -> Bool {
    guard prompt?.isTaken == false else { return false }
    do throws(PromptError) { _ = try prompt?.begin() } catch { throw .prompt(error) }
    prompt?.show("\u{7}")
    let event = prompt?.dropTyped()
    if event == .interrupt { throw .prompt(.interrupted) }
    return event == .cancel
  }

  /// Goes to the next line after an answer.
  mutating func endLine() { prompt?.endLine() }
}

// MARK: - By a program

extension Questioner {
  private mutating func askProgram<Watch: PromptWatch & ~Copyable>(
    _ label: String, _ openLabel: String?, _ watch: inout Watch
  ) throws(CommandError) -> SecretBytes {
    guard let program else { throw .prompt(.failed) }
    guard case .pinentry(let surface) = program.kind else {
      let label = openLabel ?? label
      let question = complaint.utf8.isEmpty ? label : complaint + " " + label
      return try AskedChild.answer(program, to: question, other: watch.descriptor)
    }
    while true {
      let secret = try askPinentry(program, surface, label, &watch)
      complaint = ""
      if secret.count > 0 { return secret }
      left -= 1
      guard left > 0 else { throw .prompt(.cancelled) }
      complaint = "Nothing was typed."
    }
  }

  /// A pinentry that could not ask, or is not to, is not asked again.
  private mutating func askPinentry<Watch: PromptWatch & ~Copyable>(
    _ program: AskingProgram, _ surface: AskingProgram.Surface, _ label: String,
    _ watch: inout Watch
  ) throws(CommandError) -> SecretBytes {
    if let asked = pinentry.take() { return try ask(asked, label, &watch) }
    return try ask(try Pinentry.start(program, on: surface), label, &watch)
  }

  private mutating func ask<Watch: PromptWatch & ~Copyable>(
    _ asked: consuming Pinentry, _ label: String, _ watch: inout Watch
  ) throws(CommandError) -> SecretBytes {
    let secret = try asked.ask(
      label, remark: remark, complaint: complaint, other: watch.descriptor
    ) { watch.stands() }
    pinentry = consume asked
    return secret
  }

  /// Ends the program that asked; the terminal is given back with the questioner.
  private mutating func endProgram() {
    if let asked = pinentry.take() { asked.end() }
  }
}
