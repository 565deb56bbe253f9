// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Leads a conversation with a pinentry (the manual of pinentry, and of Assuan for its lines). One
/// program serves all questions of a command.
struct Pinentry: ~Copyable {
  /// How long it may take to come up and to take an order, in ms.
  private static let patience: Int32 = 20_000
  /// The longest line of Assuan, with room to spare.
  private static let longestLine = 4_096
  /// The longest one that it takes, without its end.
  private static let longestOrder = 1_000
  /// GPG_ERR_CANCELED and GPG_ERR_FULLY_CANCELED (libgpg-error, err-codes.h.in).
  private static let cancels: [UInt64] = [99, 198]

  /// Says what it answers to an order.
  enum Answer: Equatable {
    case ok
    /// An error of libgpg-error, without its source, and words for people.
    case error(UInt64, String)
  }

  private let program: AskingProgram
  private var child: AskedChild
  /// What it has entered for us so far.
  private var entered: SecretBuffer

  /// Starts it, and tells it where to show itself.
  static func start(
    _ program: AskingProgram, on surface: AskingProgram.Surface
  ) throws(CommandError) -> Pinentry {
    let entered = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    let child = try AskedChild.start(program, listens: true)
    var pinentry = Pinentry(program: program, child: child, entered: entered)
    guard try pinentry.answer(Self.patience, other: -1) == .ok else {
      throw .program(.notUnderstood, program.path)
    }
    if let terminal = surface.terminal {
      try pinentry.tell("OPTION ttyname=", terminal)
      try pinentry.tell("OPTION ttytype=", surface.terminalType)
    }
    if let locale = surface.locale { try pinentry.tell("OPTION lc-ctype=", locale) }
    try pinentry.tell("SETTITLE ", "Kura")
    return pinentry
  }

  private init(
    program: AskingProgram, child: consuming AskedChild, entered: consuming SecretBuffer
  ) {
    self.program = program
    self.child = child
    self.entered = entered
  }

  /// Lets it end by itself.
  consuming func end() {
    child.tell(Array("BYE\n".utf8))
    _ = try? child.listen(patience: 1_000, other: -1)
  }
}

// MARK: - Questions

extension Pinentry {
  /// Asks for a secret.
  ///
  /// - Parameters:
  ///   - question: As at a terminal: `passcode for default: `.
  ///   - remark: What else is shown, on a line of its own.
  ///   - complaint: What was wrong with the answer before; empty for nothing.
  ///   - other: A descriptor that has something to read when the question may be of no use any more.
  ///   - stands: Reads it, and says whether it is; else the question is dropped, and the pinentry is of no use either.
  mutating func ask(
    _ question: String, remark: String? = nil, complaint: String, other: Int32,
    stands: () -> Bool
  ) throws(CommandError) -> SecretBytes {
    let isShown = try tell(
      "SETDESC ", "Kura: " + Self.description(question) + (remark.map { "\n" + $0 } ?? ""))
    // Nobody agrees to what he is not shown.
    guard isShown || remark == nil else { throw fault(.unshown) }
    try tell("SETPROMPT ", Self.prompt(question))
    if !complaint.utf8.isEmpty { try tell("SETERROR ", complaint) }
    entered.removeAll()
    child.tell(Array("GETPIN\n".utf8))
    let answer = try answer(-1, other: other, stands: stands)
    defer { entered.removeAll() }
    switch answer {
    case .ok: break
    case .error(let code, _) where Self.cancels.contains(code): throw .prompt(.cancelled)
    case .error(_, let words): throw .program(.said(words), program.path)
    }
    let bytes = entered.bytes
    do throws(SecureMemoryError) { return try SecretBytes(copying: bytes) } catch {
      throw .outOfMemory
    }
  }

  /// A question without the colon at its end.
  static func description(_ question: String) -> String {
    let text = question.utf8.reversed().drop { $0 == 0x20 || $0 == UInt8(ascii: ":") }
    return String(decoding: Array(text.reversed()), as: UTF8.self)
  }

  /// What stands before the field: the first words of the question, to the first `for` or `of`.
  static func prompt(_ question: String) -> String {
    var words: [String] = []
    for word in description(question).utf8.split(separator: 0x20) {
      let word = String(Substring(word))
      if word.utf8.elementsEqual("for".utf8) || word.utf8.elementsEqual("of".utf8) { break }
      words.append(word)
    }
    var text = Array(words.joined(separator: " ").utf8)
    if let first = text.first, first >= 0x61, first <= 0x7A { text[0] = first - 0x20 }
    return String(decoding: text, as: UTF8.self) + ":"
  }
}

// MARK: - Lines

extension Pinentry {
  /// Gives an order. What an option or a text means is the pinentry's business: one that it does not
  /// know is no reason not to ask.
  ///
  /// - Returns: Whether it was taken.
  @discardableResult
  private mutating func tell(_ order: String, _ text: String) throws(CommandError) -> Bool {
    let line = Array(order.utf8) + Self.encoded(text)
    guard line.count <= Self.longestOrder else { throw fault(.unshown) }
    child.tell(line + [0x0A])
    return try answer(Self.patience, other: -1) == .ok
  }

  /// Percent-encodes what may not stand in a line.
  static func encoded(_ text: String) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// Reads lines to the one that ends an answer.
  private mutating func answer(
    _ patience: Int32, other: Int32, stands: () -> Bool = { false }
  ) throws(CommandError) -> Answer {
    while true {
      while let end = lineEnd() {
        let answer = try take(end)
        child.drop(end + 1)
        if let answer { return answer }
      }
      guard child.said.count <= Self.longestLine else { throw fault(.notUnderstood) }
      switch try child.listen(patience: patience, other: other) {
      case .said: continue
      case .ended, .failed:
        kura_show_ended()
        throw fault(.ended)
      case .late: throw fault(.silent)
      case .other: guard stands() else { throw .prompt(.answeredElsewhere) }
      }
    }
  }

  private func fault(_ fault: ProgramFault) -> CommandError { .program(fault, program.path) }

  private func lineEnd() -> Int? {
    let said = child.said.bytes
    return said.indices.first { said[$0] == 0x0A }
  }

  /// Takes a line; nil when it does not end the answer.
  private mutating func take(_ end: Int) throws(CommandError) -> Answer? {
    if Self.begins(child.said.bytes.extracting(0..<end), "D ") {
      do throws(SecureMemoryError) { try Self.enter(child, end, into: &entered) } catch {
        throw .outOfMemory
      }
      return nil
    }
    return try verdict(end)
  }

  /// The same of a line that holds no secret.
  private func verdict(_ end: Int) throws(CommandError) -> Answer? {
    let line = child.said.bytes.extracting(0..<end)
    if Self.begins(line, "OK") { return .ok }
    if Self.begins(line, "S ") || Self.begins(line, "#") { return nil }
    guard Self.begins(line, "ERR ") else { throw fault(.notUnderstood) }
    var code: UInt64 = 0
    var index = 4
    while index < end, line[index] >= 0x30, line[index] <= 0x39, code < 1 << 40 {
      code = code * 10 + UInt64(line[index] - 0x30)
      index += 1
    }
    // An error's words are no secret.
    let words = (min(index + 1, end)..<end).map { line[$0] }
    return .error(code & 0xFFFF, String(decoding: words, as: UTF8.self))
  }

  private static func enter(
    _ child: borrowing AskedChild, _ end: Int, into entered: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try PercentText.decode(child.said.bytes.extracting(2..<end), into: &entered)
  }

  private static func begins(_ line: Span<UInt8>, _ word: String) -> Bool {
    guard line.count >= word.utf8.count else { return false }
    for (index, byte) in word.utf8.enumerated() where line[index] != byte { return false }
    return true
  }
}

/// Reads and writes text in which a percent sign and two digits stand for a byte.
enum PercentText {
  /// Decodes into guarded memory; a percent sign without digits stands for itself.
  static func decode(
    _ text: Span<UInt8>, into out: inout SecretBuffer
  ) throws(SecureMemoryError) {
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
        let high = digit(text[index + 1]), let low = digit(text[index + 2])
      {
        try out.append(high << 4 | low)
        index += 3
      } else {
        try out.append(text[index])
        index += 1
      }
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
