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
    switch words.first {
    case "env":
      self = try Self.environment(words.dropFirst())
    case "only":
      guard words.next() == "only", words.next() == "if" else { throw .init(message: head) }
      self = .condition(words.rest)
    case "running":
      self = .running(name: words.dropFirst())
    case "signal":
      _ = words.next()
      self = .signal(try signalNumber(words.next()), name: words.rest)
    case "at":
      self = .resume(name: words.dropFirst(), try body.map(TerminalStep.init(text:)))
    case "let":
      _ = words.next()
      let name = words.next()
      self = .capture(name: name, try Command(head: words.rest, body: body))
    default:
      self = try Self.command(&words, body: body)
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
    _ words: inout Words, body: [String]
  ) throws(StepSyntaxError) -> Action {
    if words.first.hasPrefix("&") {
      let name = String(words.next().dropFirst())
      return .start(name: name, try Command(head: words.rest, body: body))
    }
    let command = try Command(head: words.rest, body: body)
    guard command.shell.hasPrefix("wait ") else { return .run(command) }
    return .wait(name: String(command.shell.dropFirst(5)), command.expectation)
  }
}

extension Command {
  /// Reads `[within 5s] [! [STATUS]] [tty] COMMAND` and the lines below it.
  init(head: String, body: [String]) throws(StepSyntaxError) {
    var words = Words(head)
    if words.first == "within" {
      _ = words.next()
      patience = try seconds(words.next())
    }
    if words.first == "!" {
      _ = words.next()
      expectation.status = .anyFailure
      if let status = Int32(words.first) {
        _ = words.next()
        expectation.status = .exactly(status)
      }
    }
    if words.first == "tty" {
      _ = words.next()
      terminal = []
    }
    shell = words.rest
    guard !shell.isEmpty else { throw StepSyntaxError(message: "no command") }
    for line in body { try add(line) }
  }

  private mutating func add(_ line: String) throws(StepSyntaxError) {
    if try expectation.output.add(line, marker: ">") { return }
    if try expectation.messages.add(line, marker: "2>") { return }
    if line.hasPrefix("<") {
      input = (input ?? []) + Self.text(line.dropFirst()).utf8
    } else if terminal != nil {
      terminal?.append(try TerminalStep(text: line))
    } else {
      throw StepSyntaxError(message: "not an expectation: \(line)")
    }
  }

  /// The text that a `<` or `>` line stands for: one line, or one without its end after `|`.
  fileprivate static func text(_ rest: Substring) -> String {
    let isOpen = rest.hasPrefix("|")
    let line = isOpen ? rest.dropFirst() : rest
    return (line.hasPrefix(" ") ? line.dropFirst() : line) + (isOpen ? "" : "\n")
  }
}

extension ExpectedText {
  /// Takes a line of this stream's; `false` when it is another's.
  fileprivate mutating func add(
    _ line: String, marker: String
  ) throws(StepSyntaxError) -> Bool {
    guard line.hasPrefix(marker) else { return false }
    let rest = line.dropFirst(marker.count)
    if rest.hasPrefix("!~ ") {
      absent.append(try checked(pattern: rest.dropFirst(3)))
    } else if rest.hasPrefix("~ ") {
      patterns.append(try checked(pattern: rest.dropFirst(2)))
    } else {
      exact = (exact ?? "") + Command.text(rest)
    }
    return true
  }

  /// The pattern, when it is one with `${NAME}` replaced by anything.
  private func checked(pattern: Substring) throws(StepSyntaxError) -> String {
    let plain = String(pattern).replacing(/\$\{\w+\}/, with: "x")
    guard (try? NSRegularExpression(pattern: plain)) != nil else {
      throw StepSyntaxError(message: "not a pattern: \(pattern)")
    }
    return String(pattern)
  }
}

extension TerminalStep {
  init(text: String) throws(StepSyntaxError) {
    var words = Words(text)
    let verb = words.next()
    switch verb {
    case "see": self = .see(words.rest)
    case "unseen": self = .unseen(words.rest)
    case "line": self = .line(words.rest)
    case "line~": self = .linePattern(words.rest)
    case "hidden": self = .echo(false)
    case "echoing": self = .echo(true)
    case "type": self = .type(words.rest)
    case "secret": self = .secret(words.rest)
    case "press": self = .press(keys(words.rest))
    case "restored": self = .restored
    case "close": self = .close
    case "capture":
      let name = words.next()
      self = .capture(name: name, pattern: words.rest)
    case "signal":
      let number = try signalNumber(words.next())
      self = .signal(number, process: words.rest.isEmpty ? nil : words.rest)
    default: throw StepSyntaxError(message: "not something done at a terminal: \(text)")
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
  let numbers = [
    "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "KILL": SIGKILL, "TERM": SIGTERM,
    "STOP": SIGSTOP, "CONT": SIGCONT, "TSTP": SIGTSTP, "SEGV": SIGSEGV,
  ]
  guard let number = numbers[name] else {
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
