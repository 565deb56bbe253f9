// SPDX-License-Identifier: MIT

/// Reads the words behind a verb of pass's: options may stand behind names, and have a value attached.
struct PassWords {
  /// Describes an option, by its letter and its name.
  struct Option {
    let letter: Character
    let name: String
    /// Whether a value may be attached, or must follow.
    let value: Value

    enum Value { case none, optional, required }

    init(_ letter: Character, _ name: String, _ value: Value = .none) {
      self.letter = letter
      self.name = name
      self.value = value
    }
  }

  private var given: [(letter: Character, value: String?)] = []
  /// What is no option.
  private(set) var operands: [String] = []

  /// - Parameter usage: What a message shows when the words are not understood.
  init(
    _ words: [[UInt8]], _ options: [Option], usage: String, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    var rest = words[...]
    var isLiteral = false
    while let word = rest.popFirst() {
      let text = try Invocation.text(word)
      if isLiteral || !text.utf8.starts(with: "-".utf8) || text.utf8.count == 1 {
        operands.append(text)
      } else if text.utf8.elementsEqual("--".utf8) {
        isLiteral = true
      } else if let next = try take(text, options, rest.first) {
        if next { rest.removeFirst() }
      } else {
        throw PassFront.refusal("usage: pass " + usage, invocation)
      }
    }
  }

  /// Takes an option.
  ///
  /// - Returns: Whether the next word is its value; nil: there is no such option.
  private mutating func take(
    _ text: String, _ options: [Option], _ next: [UInt8]?
  ) throws(CommandError) -> Bool? {
    guard text.utf8.starts(with: "--".utf8) else { return try takeLetters(text, options, next) }
    let body = text.utf8.dropFirst(2)
    let end = body.firstIndex(of: UInt8(ascii: "=")) ?? body.endIndex
    let attached = end < body.endIndex ? String(body[body.index(after: end)...]) : nil
    guard let option = options.first(where: { $0.name.utf8.elementsEqual(body[..<end]) }) else {
      return nil
    }
    return try add(option, attached, next)
  }

  private mutating func takeLetters(
    _ text: String, _ options: [Option], _ next: [UInt8]?
  ) throws(CommandError) -> Bool? {
    var rest = text.unicodeScalars.dropFirst()
    while let scalar = rest.popFirst() {
      guard let option = options.first(where: { $0.letter == Character(scalar) }) else {
        return nil
      }
      guard option.value == .none || rest.isEmpty else {
        return try add(option, String(Substring(rest)), next)
      }
      if try add(option, nil, next) == true { return true }
    }
    return false
  }

  private mutating func add(
    _ option: Option, _ attached: String?, _ next: [UInt8]?
  ) throws(CommandError) -> Bool? {
    switch option.value {
    case .none where attached != nil: return nil
    case .none, .optional: given.append((option.letter, attached))
    case .required:
      if attached == nil {
        guard let next else { return nil }
        given.append((option.letter, try Invocation.text(next)))
        return true
      }
      given.append((option.letter, attached))
    }
    return false
  }

  /// Whether an option was given.
  func has(_ letter: Character) -> Bool { given.contains { $0.letter == letter } }

  /// The value of an option.
  func value(_ letter: Character) -> String? { given.last { $0.letter == letter }?.value }
}
