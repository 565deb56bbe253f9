// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import KuraTerms

/// Reads what an order names: a file, standard input or a folder, and with a password what one seals.
struct SourceReading {
  /// How often a password is asked for.
  private static let tries = 3

  private let order: ImportOrder
  /// What came by standard input, which is read once.
  private var input: [UInt8]?
  private var password: [UInt8]?

  /// Reads all of it.
  ///
  /// - Parameter progress: Gets the number of files of a store that were looked at.
  static func read(
    _ order: ImportOrder, progress: @escaping (Int) -> Void
  ) throws(ImportFailure) -> AnswerReader.Answer {
    if order.format == .pass {
      let bytes = try PassStore.read(order.source, progress: progress)
      return try answer(try ConfinedReader.read(bytes, as: .pass), .pass)
    }
    if order.format == .secretService {
      let bytes = try DesktopSecrets.read()
      return try answer(try ConfinedReader.read(bytes, as: .secretService), .secretService)
    }
    var reading = SourceReading(order: order)
    return try reading.read()
  }

  private init(order: ImportOrder) { self.order = order }

  private mutating func read() throws(ImportFailure) -> AnswerReader.Answer {
    if let path = order.passwordFile { password = try Self.password(in: path) }
    if order.source == "-" { input = try Self.readInput() }
    var asked = 0
    while true {
      let outcome = try readOnce()
      guard case .flaw(let flaw) = outcome, order.passwordFile == nil,
        flaw.rule == .passwordNeeded || flaw.rule == .wrongPassword && asked < Self.tries
      else { return try Self.answer(outcome, order.format) }
      password = try question(again: flaw.rule == .wrongPassword)
      asked += 1
    }
  }

  private static func answer(
    _ outcome: AnswerReader.Outcome, _ format: ImportFormat
  ) throws(ImportFailure) -> AnswerReader.Answer {
    switch outcome {
    case .whole(let answer): return answer
    case .flaw(let flaw): throw ImportFailure(flaw, in: format)
    }
  }

  private func readOnce() throws(ImportFailure) -> AnswerReader.Outcome {
    if let input { return try ConfinedReader.read(input, as: order.format, password) }
    let file = try Self.open(order.source)
    defer { Descriptor.close(file) }
    return try ConfinedReader.read(file, as: order.format, password)
  }

  private static func open(_ path: String) throws(ImportFailure) -> Int32 {
    do throws(FileError) { return try Descriptor.open(path: path) } catch {
      throw ImportFailure(
        .inputOutput,
        "cannot read " + ImportWords.harmless(path) + ": " + SystemMessage.text(error.errno))
    }
  }

  // MARK: - Standard input

  private static func readInput() throws(ImportFailure) -> [UInt8] {
    guard !kura_is_terminal(0) else {
      throw ImportFailure(.usage, "no file is given", hint: "try 'kura help import'")
    }
    return try readAll(0, "standard input", upTo: Source.most + 1)
  }

  /// - Parameter most: How many bytes are read; the rest stays where it is.
  private static func readAll(
    _ descriptor: Int32, _ name: String, upTo most: Int
  ) throws(ImportFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < most {
      var span = room.mutableSpan
      let count = System.read(descriptor, into: &span)
      guard count >= 0 else {
        throw ImportFailure(
          .inputOutput, "cannot read " + name + ": " + SystemMessage.text(Int32(-count)))
      }
      if count == 0 { break }
      bytes += room[..<count]
    }
    return bytes
  }

  // MARK: - Passwords

  /// The first line of a file; more than that is none.
  private static func password(in path: String) throws(ImportFailure) -> [UInt8] {
    let file = try open(path)
    defer { Descriptor.close(file) }
    var bytes = try readAll(file, ImportWords.harmless(path), upTo: PasswordQuestion.longest + 1)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard bytes.count <= PasswordQuestion.longest else {
      throw ImportFailure(
        .failure, "what stands in " + ImportWords.harmless(path) + " is too long for a password")
    }
    return bytes
  }

  private func question(again isAgain: Bool) throws(ImportFailure) -> [UInt8] {
    guard !order.isUnattended, let question = PasswordQuestion() else {
      throw ImportFailure(
        .needsInteraction, "the export opens with a password, and nobody can be asked for it",
        hint: "run it at a terminal, or give the password with --password-file FILE")
    }
    return try question.ask(
      (isAgain ? "that is not its password; " : "") + "password of the export: ")
  }
}
