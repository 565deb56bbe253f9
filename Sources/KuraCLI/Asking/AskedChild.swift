// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Runs a program that asks a person in our place, and hears what it says.
struct AskedChild: ~Copyable {
  private let program: AskingProgram
  private let child: kura_child
  private var hasEnded = false
  /// What it has said, from where it was not yet read on.
  private(set) var said: SecretBuffer

  /// Starts it, marked so that a kura that it starts asks nobody.
  ///
  /// - Parameters:
  ///   - question: Its argument; nil: none.
  ///   - listens: Whether it hears ``tell(_:)``.
  static func start(
    _ program: AskingProgram, question: String? = nil, listens: Bool = false
  ) throws(CommandError) -> AskedChild {
    let said = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 2_048) }
    let child = System.startAsked(
      program.path, argument: question, feeds: listens, inherits: true)
    guard let child else { throw .program(.notStarted, program.path) }
    return AskedChild(program: program, child: child, said: said)
  }

  private init(program: AskingProgram, child: kura_child, said: consuming SecretBuffer) {
    self.program = program
    self.child = child
    self.said = said
  }

  /// One that is still there is not needed any more.
  deinit {
    kura_socket_close(child.descriptor)
    if !hasEnded { kura_end_asked(child.process) }
  }
}

// MARK: - Talking

extension AskedChild {
  /// Says what a wait for its words came to.
  enum Event {
    case said, ended, late, other, failed
  }

  /// Waits for its next words.
  ///
  /// - Parameters:
  ///   - patience: In ms; -1: for ever.
  ///   - other: A descriptor; something to read there goes before.
  mutating func listen(patience: Int32, other: Int32) throws(CommandError) -> Event {
    var answer = 0
    let descriptor = child.descriptor
    do throws(SecureMemoryError) { try said.reserve(1) } catch { throw .outOfMemory }
    said.append(upTo: said.capacity - said.count) { tail in
      answer = System.readAsked(descriptor, into: &tail, patience: patience, other: other)
      return max(answer, 0)
    }
    switch answer {
    case 1...: return .said
    case Int(KURA_ASKED_ENDED): return .ended
    case Int(KURA_ASKED_TIMEOUT): return .late
    case Int(KURA_ASKED_OTHER): return .other
    default: return .failed
    }
  }

  /// Forgets the beginning of what it has said.
  mutating func drop(_ count: Int) { said.removeFirst(count) }

  /// Says something to it; one that is gone is found out when it is heard.
  func tell(_ words: [UInt8]) {
    _ = System.send(words.span, to: child.descriptor, patience: 5_000)
  }

  /// Waits for its end; its exit status.
  mutating func status() -> Int32 {
    hasEnded = true
    return kura_child_wait(child.process, Int32.max)
  }
}

// MARK: - Askpass

extension AskedChild {
  /// The first line of what a program prints when it was started with the question.
  static func answer(
    _ program: AskingProgram, to question: String, other: Int32
  ) throws(CommandError) -> SecretBytes {
    var child = try start(program, question: question)
    while true {
      switch try child.listen(patience: -1, other: other) {
      case .said where child.said.count <= 65_536: continue
      case .other: throw .prompt(.answeredElsewhere)
      case .ended:
        guard child.status() == 0 else { throw .askpass(program.path) }
        return try firstLine(child.said, program)
      case .said, .late, .failed: throw .askpass(program.path)
      }
    }
  }

  private static func firstLine(
    _ said: borrowing SecretBuffer, _ program: AskingProgram
  ) throws(CommandError) -> SecretBytes {
    let bytes = said.bytes
    let end = bytes.indices.first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
    guard end > 0 else { throw .askpass(program.path) }
    do throws(SecureMemoryError) {
      return try SecretBytes(copying: bytes.extracting(first: end))
    } catch { throw .outOfMemory }
  }
}
