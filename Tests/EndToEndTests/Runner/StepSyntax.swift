// SPDX-License-Identifier: MIT

import Foundation

/// A step that cannot be read; the parser adds where it stands.
struct StepSyntaxError: Error {
  var message: String
}

extension Action {
  /// Reads a step.
  ///
  /// - Parameters:
  ///   - head: The line at the margin.
  ///   - body: The lines below it, without their indentation.
  init(head: String, body: [String]) throws(StepSyntaxError) {
    var words = Words(head)
    guard let word = StepWord(rawValue: words.first) else {
      self = try Self.command(head: head, body: body)
      return
    }
    switch word {
    case .use, .wait:
      self = try Self.command(head: head, body: body)
    case .env:
      self = try Self.environment(words.dropFirst())
    case .condition:
      guard words.next() == "only", words.next() == "if" else { throw .init(message: head) }
      self = .condition(words.rest)
    case .running:
      self = .running(name: words.dropFirst())
    case .signal:
      _ = words.next()
      self = .signal(try signalNumber(words.next()), name: words.rest)
    case .resume:
      self = .resume(name: words.dropFirst(), try body.map(TerminalStep.init(text:)))
    case .capture:
      _ = words.next()
      let name = words.next()
      self = .capture(name: name, try Command(head: words.rest, body: body))
    }
  }

  private static func environment(_ text: String) throws(StepSyntaxError) -> Action {
    if text.hasPrefix("-") { return .environment(name: String(text.dropFirst()), value: nil) }
    guard let equals = text.firstIndex(of: "=") else {
      throw StepSyntaxError(message: "env NAME=VALUE or env -NAME")
    }
    let value = String(text[text.index(after: equals)...])
    return .environment(name: String(text[..<equals]), value: value)
  }

  private static func command(
    head: String, body: [String]
  ) throws(StepSyntaxError) -> Action {
    var words = Words(head)
    if words.first.hasPrefix("&") {
      let name = String(words.next().dropFirst())
      return .start(name: name, try Command(head: words.rest, body: body))
    }
    let command = try Command(head: head, body: body)
    // It can have a status before it, as a command has.
    var shell = Words(command.shell)
    guard StepWord(rawValue: shell.next()) == .wait, !shell.rest.isEmpty else {
      return .run(command)
    }
    return .wait(name: shell.rest, command.expectation)
  }
}

extension Command {
  /// Reads `[within 5s] [! [STATUS]] [tty] COMMAND` and the lines below it.
  init(head: String, body: [String]) throws(StepSyntaxError) {
    var words = Words(head)
    for word in CommandWord.allCases where words.first == word.rawValue {
      _ = words.next()
      switch word {
      case .within: patience = try seconds(words.next())
      case .fails:
        expectation.status = .anyFailure
        if let status = Int32(words.first) {
          _ = words.next()
          expectation.status = .exactly(status)
        }
      case .terminal: terminal = []
      }
    }
    shell = words.rest
    guard !shell.isEmpty else { throw StepSyntaxError(message: "no command") }
    for line in body { try add(line) }
  }

  private mutating func add(_ line: String) throws(StepSyntaxError) {
    let word = String(line.prefix { $0 != " " })
    guard let mark = Mark(rawValue: word) else {
      guard terminal != nil else {
        throw StepSyntaxError(message: "not an expectation: \(line)")
      }
      terminal?.append(try TerminalStep(text: line))
      return
    }
    // One blank parts the mark from the text.
    let text = String(line.dropFirst(word.count + 1))
    switch mark {
    case .input: input = (input ?? []) + Array((text + "\n").utf8)
    case .openInput: input = (input ?? []) + Array(text.utf8)
    case .output: expectation.output.add(text + "\n")
    case .openOutput: expectation.output.add(text)
    case .outputMatches: expectation.output.patterns.append(try checked(pattern: text))
    case .outputLacks: expectation.output.absent.append(try checked(pattern: text))
    case .messages: expectation.messages.add(text + "\n")
    case .openMessages: expectation.messages.add(text)
    case .messagesMatch: expectation.messages.patterns.append(try checked(pattern: text))
    case .messagesLack: expectation.messages.absent.append(try checked(pattern: text))
    }
  }
}

extension ExpectedText {
  fileprivate mutating func add(_ text: String) { exact = (exact ?? "") + text }
}

/// The pattern, when it is one with `${NAME}` replaced by anything.
private func checked(pattern: String) throws(StepSyntaxError) -> String {
  let plain = pattern.replacing(/\$\{\w+\}/, with: "x")
  guard (try? NSRegularExpression(pattern: plain)) != nil else {
    throw StepSyntaxError(message: "not a pattern: \(pattern)")
  }
  return pattern
}

extension TerminalStep {
  init(text: String) throws(StepSyntaxError) {
    var words = Words(text)
    guard let word = TerminalWord(rawValue: words.next()) else {
      throw StepSyntaxError(message: "not something done at a terminal: \(text)")
    }
    switch word {
    case .see: self = .see(words.rest)
    case .unseen: self = .unseen(words.rest)
    case .line: self = .line(words.rest)
    case .linePattern: self = .linePattern(words.rest)
    case .hidden: self = .echo(false)
    case .echoing: self = .echo(true)
    case .type: self = .type(words.rest)
    case .secret: self = .secret(words.rest)
    case .press: self = .press(keys(words.rest))
    case .restored: self = .restored
    case .close: self = .close
    case .capture:
      let name = words.next()
      self = .capture(name: name, pattern: words.rest)
    case .signal:
      let number = try signalNumber(words.next())
      self = .signal(number, process: words.rest.isEmpty ? nil : words.rest)
    }
  }
}

/// A line taken apart at its spaces, from the left.
private struct Words {
  private(set) var rest: String
  init(_ text: String) { rest = text }

  var first: String { String(rest.prefix { $0 != " " }) }

  mutating func next() -> String {
    let word = first
    rest = String(rest.dropFirst(word.count).drop { $0 == " " })
    return word
  }

  consuming func dropFirst() -> String {
    _ = next()
    return rest
  }
}

/// The bytes of keys in caret notation: `^C` is 3, `^?` is 127, `^^` a caret.
private func keys(_ text: String) -> [UInt8] {
  var result: [UInt8] = []
  var isControl = false
  for byte in text.utf8 {
    if isControl {
      let caret = UInt8(ascii: "^")
      result.append(byte == caret ? caret : byte == UInt8(ascii: "?") ? 127 : byte & 0x1f)
      isControl = false
    } else if byte == UInt8(ascii: "^") {
      isControl = true
    } else {
      result.append(byte)
    }
  }
  return result
}

private func signalNumber(_ name: String) throws(StepSyntaxError) -> Int32 {
  guard let number = signalNumbers[name] else {
    throw StepSyntaxError(message: "not a signal: \(name)")
  }
  return number
}

private func seconds(_ text: String) throws(StepSyntaxError) -> Duration {
  guard text.hasSuffix("s"), let number = Double(text.dropLast()) else {
    throw StepSyntaxError(message: "not a time: \(text)")
  }
  return .seconds(number)
}
