// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Finds what can stand where the cursor is in a command line that is being typed. It is read from
/// the command table by the rules of ``ArgumentParser``; what is wrong before the cursor is passed
/// over.
struct LineCompletion {
  /// Names what fits.
  enum Candidates: Equatable, Sendable {
    /// One of these, each with a line of help.
    case words([Word])
    case itemNames
    /// One of these, or one of a deleted item.
    case itemNamesAndDeleted
    /// The name of a vault, behind a part of the word that stays.
    case vaultNames(behind: [UInt8])
    /// A reference, behind a part of the word that stays.
    case references(behind: [UInt8])
    case files
    /// Another program's command line.
    case command
    case nothing
  }

  /// Offers one word, with what it is for.
  struct Word: Equatable, Sendable {
    let text: String
    var help = ""
  }

  /// The word that the cursor is in, up to it.
  let current: [UInt8]
  /// The vault that the line names before the cursor.
  private(set) var vault: [UInt8]?
  private var command: Command?
  private var operands: [[UInt8]] = []
  private var hasSeparator = false
  /// The option whose value comes next.
  private var pending: Option?

  /// Reads a line.
  ///
  /// - Parameter words: Those after the program's name; the last one is not complete.
  init(_ words: [[UInt8]]) {
    current = words.last ?? []
    for word in words.dropLast() { take(word) }
  }

  private mutating func take(_ word: [UInt8]) {
    if let option = pending {
      pending = nil
      note(option, word)
    } else if hasSeparator || word.count < 2 || word[0] != Self.dash {
      take(operand: word)
    } else if word[1] != Self.dash {
      take(letters: word.dropFirst())
    } else if word.count == 2 {
      hasSeparator = true
    } else {
      take(long: word)
    }
  }

  private mutating func take(operand: [UInt8]) {
    if command == nil { command = CommandTable.command(operand) } else { operands.append(operand) }
  }

  private mutating func take(long word: [UInt8]) {
    let equals = word.firstIndex(of: UInt8(ascii: "=")) ?? word.endIndex
    guard let option = option(spelled: word[..<equals]) else { return }
    if equals < word.endIndex {
      note(option, Array(word[(equals + 1)...]))
    } else if case .required = option.value {
      pending = option
    }
  }

  private mutating func take(letters: ArraySlice<UInt8>) {
    for index in letters.indices {
      let letter = Unicode.Scalar(letters[index])
      guard let option = options.first(where: { $0.letter == letter }) else { continue }
      guard case .required = option.value else { continue }
      if index + 1 == letters.endIndex { pending = option }
      return
    }
  }

  private mutating func note(_ option: Option, _ value: [UInt8]) {
    if option.name == .vault { vault = value }
  }

  private static let dash = UInt8(ascii: "-")
}

// MARK: - Candidates

extension LineCompletion {
  /// What fits at the cursor.
  var candidates: Candidates {
    if let pending { return candidates(for: pending, behind: []) }
    if !hasSeparator, current.first == Self.dash { return optionCandidates }
    guard let command else { return .words(Self.verbs) }
    return operandCandidates(command)
  }

  private var options: [Option] {
    let shared = command.map { $0.options + $0.sharedOptions } ?? Option.programs + Option.asking
    return shared + Option.general
  }

  private func option(spelled text: ArraySlice<UInt8>) -> Option? {
    options.first { $0.name.spelling.utf8.elementsEqual(text) }
  }

  private static var verbs: [Word] {
    CommandTable.all.map { Word(text: $0.verb, help: $0.abstract) }
  }

  private var optionCandidates: Candidates {
    if let equals = current.firstIndex(of: UInt8(ascii: "=")) {
      guard let option = option(spelled: current[..<equals]) else { return .nothing }
      return candidates(for: option, behind: Array(current[...equals]))
    }
    return .words(options.map { Word(text: $0.name.spelling, help: $0.help) })
  }

  private func candidates(for option: Option, behind head: [UInt8]) -> Candidates {
    guard case .required(let kind) = option.value else { return .nothing }
    switch (kind, option.name) {
    case ("FILE", _), ("OUT", _): return head.isEmpty ? .files : .nothing
    case ("VAULT", _): return .vaultNames(behind: head)
    case (_, .color):
      let text = String(decoding: head, as: UTF8.self)
      return .words(["auto", "always", "never"].map { Word(text: text + $0) })
    case (_, .slots):
      let text = String(decoding: head, as: UTF8.self)
      return .words(Sync.Slots.allCases.map { Word(text: text + $0.rawValue) })
    case ("WHERE", _):
      let text = String(decoding: head, as: UTF8.self)
      return .words(["wayland", "x11", "osc52"].map { Word(text: text + $0) })
    case ("WHY", _):
      let text = String(decoding: head, as: UTF8.self)
      return .words(Lock.reasons.map { Word(text: text + $0.word) })
    case ("REF", _): return .references(behind: head)
    case ("NAME", .grant): return head.isEmpty ? .itemNames : .nothing
    case ("VAR=REF", _), ("N=REF", _):
      let start = head.count
      guard let equals = current[start...].firstIndex(of: UInt8(ascii: "=")) else {
        return .nothing
      }
      return .references(behind: Array(current[...equals]))
    default: return .nothing
    }
  }

  private func operandCandidates(_ command: Command) -> Candidates {
    guard let last = command.operands.last else { return .nothing }
    let isRepeated = last.count == .any || last.count == .atLeastOne
    let place = operands.count
    guard place < command.operands.count || isRepeated else { return .nothing }
    let operand = place < command.operands.count ? command.operands[place] : last
    switch operand.name {
    case "NAME", "PREFIX":
      if current.starts(with: "kura:".utf8) { return .references(behind: []) }
      return Self.bringDeletedUp.contains(command.verb) ? .itemNamesAndDeleted : .itemNames
    case "NAME|N":
      guard operands.first.map({ $0.elementsEqual("add".utf8) }) == true else { return .nothing }
      return .itemNames
    case "-- CMD": return hasSeparator ? .command : .words([Word(text: "--")])
    case "KEY": return .words(Config.keys.map { Word(text: $0.name) })
    case "VALUE": return operands.last.map(Self.settings) ?? .nothing
    case "KIND|N":
      guard operands.last.map({ $0.elementsEqual("add".utf8) }) == true else { return .nothing }
      return .words(Credential.allCases.map { Word(text: $0.word) })
    case "PROGRAM": return .words(Helper.programs.map { Word(text: $0.name) })
    case "TOPIC": return .words(Self.verbs + [Word(text: "exit-status")])
    default: return Self.choices(operand.name)
    }
  }

  /// The verbs that take the name of a deleted item, too.
  private static let bringDeletedUp = ["restore", "purge"]

  /// What a policy key takes, where that is a choice of words.
  private static func settings(_ key: [UInt8]) -> Candidates {
    let key = Config.keys.first { $0.name.utf8.elementsEqual(key) }
    guard key?.unit == .flag else { return .nothing }
    return .words([Word(text: "on"), Word(text: "off")])
  }

  /// The words of `start|stop|status`.
  private static func choices(_ name: String) -> Candidates {
    let words = name.utf8.split(separator: UInt8(ascii: "|"))
    guard words.count > 1 else { return .nothing }
    return .words(words.map { Word(text: String(decoding: $0, as: UTF8.self)) })
  }
}
