// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Who can be asked for a secret: a person at the terminal, a program that asks one, or nobody.
struct Questioner: ~Copyable {
  var prompt: Prompt?
  private let program: String
  /// What went wrong last, for a program to show.
  private var complaint = ""

  /// How often the answer may yet be wrong.
  private var left = 3

  /// - Parameters:
  ///   - prompt: The terminal, where there is one.
  ///   - program: What asks in its place; empty: nothing does.
  init(_ prompt: consuming Prompt?, program: String) {
    self.prompt = prompt
    self.program = program
  }

  /// Whether a person looks at a terminal, and can be shown something.
  var hasTerminal: Bool { prompt != nil }

  /// Whether anybody can be asked for a secret.
  var canAsk: Bool { hasTerminal || !program.utf8.isEmpty }
}

// MARK: - Questions

extension Questioner {
  /// Asks for a credential until it is right, three times at most.
  ///
  /// - Parameters:
  ///   - other: As for ``Prompt/line(_:isHidden:allowsEmpty:other:)``.
  ///   - body: Tries it. A refusal as wrong asks again; anything else ends.
  mutating func attempts<Value>(
    _ label: String, _ kind: CredentialKind, other: Int32 = -1,
    _ body: (borrowing SecretBytes) throws(ClientError) -> Value
  ) throws(CommandError) -> Value {
    while true {
      let secret = try ask(label, isHidden: kind != .recoveryKey, other: other)
      do throws(ClientError) {
        let value = try body(secret)
        prompt?.endLine()
        return value
      } catch {
        guard takesBack(error) else { throw .client(error) }
      }
    }
  }

  /// Asks once. The cursor stays on the line.
  mutating func ask(
    _ label: String, isHidden: Bool, other: Int32 = -1
  ) throws(CommandError) -> SecretBytes {
    if prompt == nil { return try askProgram(label) }
    return try prompting { () throws(PromptError) in
      guard let secret = try prompt?.line(label, isHidden: isHidden, other: other) else {
        throw .failed
      }
      return secret
    }
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
    case .wrongPasscode where refused.detail2 > 0:
      return "Wrong passcode; the next try is possible in " + Diagnostic.wait(refused.detail2)
        + "."
    case .wrongPasscode: return "Wrong passcode, try again."
    case .wrongKey: return "Wrong recovery key, try again."
    case .recoveryKeyTypo where refused.detail > 0:
      return "There is a typing error in group \(refused.detail), try again."
    case .recoveryKeyTypo: return "There is a typing error, try again."
    default: return nil
    }
  }
}

// MARK: - By a program

extension Questioner {
  private func askProgram(_ label: String) throws(CommandError) -> SecretBytes {
    let question = complaint.utf8.isEmpty ? label : complaint + " " + label
    var child = kura_child()
    guard unsafe kura_start_asked(program, question, 0, 1, &child) == 0 else {
      throw .askpass(program)
    }
    defer { kura_socket_close(child.descriptor) }
    let answer: SecretBuffer
    do throws(FileError) {
      answer = try Descriptor.readAll(child.descriptor, limit: ProtocolLimit.secret)
    } catch { throw .askpass(program) }
    guard kura_child_wait(child.process, Int32.max) == 0 else { throw .askpass(program) }
    return try Self.firstLine(answer, program)
  }

  /// What such programs print is the answer and a newline.
  private static func firstLine(
    _ answer: borrowing SecretBuffer, _ program: String
  ) throws(CommandError) -> SecretBytes {
    let bytes = answer.bytes
    let end = bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
    guard end > 0 else { throw .askpass(program) }
    do throws(SecureMemoryError) {
      return try SecretBytes(copying: bytes.extracting(first: end))
    } catch { throw .outOfMemory }
  }
}
