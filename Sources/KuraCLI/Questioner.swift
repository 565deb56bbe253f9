// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Who can be asked for a secret: a person at the terminal, a program that asks one, or nobody.
struct Questioner: ~Copyable {
  var prompt: Prompt?
  /// Where a question stands, for people at other prompts to read.
  let place: String
  private let program: AskingProgram?
  private var pinentry: Pinentry?
  /// What went wrong last, for a program to show.
  private var complaint = ""

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

}

// MARK: - Questions

extension Questioner {
  /// Asks for a credential until it is right, three times at most.
  ///
  /// - Parameters:
  ///   - watch: As for a line at the terminal.
  ///   - body: Tries it. A refusal as wrong asks again; anything else ends.
  mutating func attempts<Value, Watch: PromptWatch & ~Copyable>(
    _ label: String, _ kind: CredentialKind, watch: inout Watch,
    _ body: (borrowing SecretBytes) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    while true {
      let secret = try ask(label, isHidden: kind != .recoveryKey, watch: &watch)
      do throws(ClientError) {
        let value = try body(secret)
        prompt?.endLine()
        endProgram()
        return value
      } catch {
        guard takesBack(error) else { throw .client(error) }
      }
    }
  }

  /// The same where nobody else cares.
  mutating func attempts<Value>(
    _ label: String, _ kind: CredentialKind,
    _ body: (borrowing SecretBytes) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    var nobody = NobodyElse()
    return try attempts(label, kind, watch: &nobody, body)
  }

  /// Asks once. The cursor stays on the line.
  mutating func ask<Watch: PromptWatch & ~Copyable>(
    _ label: String, isHidden: Bool, watch: inout Watch
  ) throws(CommandError) -> SecretBytes {
    if prompt == nil { return try askProgram(label, other: watch.descriptor) }
    do throws(PromptError) {
      guard let secret = try prompt?.line(label, isHidden: isHidden, watch: &watch) else {
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

  /// Asks for a new secret, twice.
  ///
  /// - Parameter remark: What is said of it after the first time.
  mutating func twice(
    _ label: String, _ what: Mismatch, remark: (borrowing SecretBytes) -> String
  ) throws(CommandError) -> SecretBytes {
    guard prompt == nil else {
      guard let secret = try prompt?.twice(label, what, remark: remark) else {
        throw .prompt(.failed)
      }
      return secret
    }
    let first = try askProgram(label)
    let second = try askProgram("again: ")
    guard first.isEqual(to: second) else { throw .mismatch(what) }
    return first
  }

  /// Goes to the next line after an answer.
  func endLine() { prompt?.endLine() }

  /// Clears the line of an answer that was refused, and says why.
  ///
  /// - Returns: Whether it is worth asking again.
  mutating func takesBack(_ error: ClientError) -> Bool {
    prompt?.clearLine()
    left -= 1
    guard left > 0, let sentence = Self.sentence(error) else { return false }
    prompt?.say(sentence)
    complaint = sentence
    return true
  }

  /// The sentence for a credential that was wrong; nil where another try is of no use.
  private static func sentence(_ error: ClientError) -> String? {
    guard case .refused(let refused) = error else { return nil }
    switch refused.failure {
    case .wrongPasscode where refused.isUntakenCode && refused.detail2 == 0:
      return "Wrong passcode, and a code changes no slot; try again."
    case .wrongPasscode where refused.detail2 > 0:
      return "Wrong passcode; the next try is possible in " + Diagnostic.wait(refused.detail2)
        + "."
    case .wrongPasscode: return "Wrong passcode, try again."
    case .wrongKey: return "Wrong recovery key, try again."
    case .recoveryKeyTypo where refused.detail2 > 0:
      return "It has \(refused.detail2) signs, a recovery key has 36; try again."
    case .recoveryKeyTypo where refused.detail > 0:
      return "There is a typing error in group \(refused.detail), try again."
    case .recoveryKeyTypo: return "There is a typing error, try again."
    default: return nil
    }
  }
}

// MARK: - By a program

extension Questioner {
  private mutating func askProgram(
    _ label: String, other: Int32 = -1
  ) throws(CommandError) -> SecretBytes {
    guard let program else { throw .prompt(.failed) }
    guard case .pinentry(let surface) = program.kind else {
      let question = complaint.utf8.isEmpty ? label : complaint + " " + label
      return try AskedChild.answer(program, to: question, other: other)
    }
    while true {
      let secret = try askPinentry(program, surface, label, other: other)
      complaint = ""
      if secret.count > 0 { return secret }
      left -= 1
      guard left > 0 else { throw .prompt(.cancelled) }
      complaint = "Nothing was typed."
    }
  }

  /// A pinentry that could not ask, or is not to, is not asked again.
  private mutating func askPinentry(
    _ program: AskingProgram, _ surface: AskingProgram.Surface, _ label: String, other: Int32
  ) throws(CommandError) -> SecretBytes {
    if let asked = pinentry.take() { return try ask(asked, label, other: other) }
    return try ask(try Pinentry.start(program, on: surface), label, other: other)
  }

  private mutating func ask(
    _ asked: consuming Pinentry, _ label: String, other: Int32
  ) throws(CommandError) -> SecretBytes {
    let secret = try asked.ask(label, complaint: complaint, other: other)
    pinentry = consume asked
    return secret
  }

  /// Ends the program that asked; the terminal is given back with the questioner.
  private mutating func endProgram() {
    if let asked = pinentry.take() { asked.end() }
  }
}
