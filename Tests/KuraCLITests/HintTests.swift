// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraCLI

/// Reads what a message says about Kura's own commands, and tries whether each would be understood.
enum NamedCommand {
  /// The words of a command line that stands in a message.
  ///
  /// Words in capitals stand for something; quotes of a shell's hold a word together.
  static func words(_ text: String) -> [[UInt8]] {
    var words: [String] = []
    var (word, isQuoted, isOpen) = ("", false, false)
    for character in text {
      switch character {
      case "\"": (isQuoted, isOpen) = (!isQuoted, true)
      case " " where !isQuoted:
        if isOpen { words.append(word) }
        (word, isOpen) = ("", false)
      default:
        word.append(character)
        isOpen = true
      }
    }
    if isOpen { words.append(word) }
    return words.map { Array($0.utf8) }
  }

  /// Why a command line would not be understood; nil where it would.
  static func flaw(_ text: String) -> String? {
    let words = words(text)
    guard words.first == Array("kura".utf8) else { return "not kura" }
    // What may be left out is no part of a command that can be typed.
    guard !text.contains("["), !text.contains("|") else { return "notation" }
    do {
      let parsed = try ArgumentParser.parse(Array(words.dropFirst()))
      guard case .run(let command, let arguments) = parsed else { return nil }
      return flaw(of: command, arguments)
    } catch { return error.message }
  }

  /// What the parser leaves to the verbs themselves: the word that says what is to be done.
  private static func flaw(of command: KuraCLI.Command, _ arguments: Arguments) -> String? {
    guard let operand = command.operands.first, let word = arguments.operands.first else {
      return nil
    }
    let text = String(decoding: word, as: UTF8.self)
    let choices = operand.name.split(separator: "|").map(String.init)
    if choices.count > 1 { return choices.contains(text) ? nil : "no such action: " + text }
    switch command.verb {
    case "help":
      let isTopic =
        ["VERB", "exit-status", "start"].contains(text) || CommandTable.command(word) != nil
      return isTopic ? nil : "no such topic: " + text
    case "config": return Config.keys.contains { $0.name == text } ? nil : "no such setting"
    case "helper":
      return Helper.programs.contains { $0.name == text } ? nil : "no such program"
    default: return nil
    }
  }
}

/// The texts of the sources, as far as they stand there: what is computed is a word `X` in them.
enum SourceTexts {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Every command that a text of the client's names, with the file that it stands in.
  static let commands: [(file: String, command: String)] = {
    var found: [(String, String)] = []
    for folder in ["Sources/KuraCLI", "Sources/KuraClient", "Sources/KuraProtocol"] {
      let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      while let name = files?.nextObject() as? String {
        guard name.hasSuffix(".swift"), !name.hasSuffix("Shell.swift") else { continue }
        let url = root.appending(path: folder).appending(path: name)
        guard let source = try? String(contentsOf: url, encoding: .utf8) else { continue }
        found += commands(in: source).map { (name, $0) }
      }
    }
    return found
  }()

  static func commands(in source: String) -> [String] {
    let code = source.split(separator: "\n").filter {
      !$0.drop { $0 == " " }.hasPrefix("//")
    }.joined(separator: "\n")
    // Literals that are joined are one; what stands between two of them is computed.
    let joined = code.replacing(/"\s*\+\s*"/, with: "")
      .replacing(/"\s*\+[^"']*?\+\s*"/, with: "X")
      .replacing(/\\\([^()]*(\([^()]*\))?[^()]*\)/, with: "1")
    return joined.matches(of: /'(kura [^'\n"]*)'/).map { String($0.1) }
  }
}

@Suite struct NamedCommandTests {
  @Test func `a command that a message names is one that the parser takes`() {
    let commands = SourceTexts.commands
    #expect(commands.count > 60)
    for (file, command) in commands where !command.hasPrefix("kura X") {
      let text = command.replacing("kura help X", with: "kura help VERB")
      #expect(NamedCommand.flaw(text) == nil, "\(file): '\(command)'")
    }
  }

  @Test(arguments: [
    "kura lst", "kura get", "kura get a b", "kura list [--deleted]", "kura slot ad local",
    "kura config idle-timeuot", "kura get --frobnicate a", "kura help frobnicate",
    "kura unlock recovery-key",
  ])
  func `one that is wrong is noticed`(_ command: String) {
    #expect(NamedCommand.flaw(command) != nil)
  }

  @Test func `texts of the sources are put together`() {
    let source = """
      ("'kura show " + name + "' shows it", "first 'kura unlock" + " --wait'; \\(count)")
      // 'kura comment'
      """
    #expect(SourceTexts.commands(in: source) == ["kura show X", "kura unlock --wait"])
  }

  /// One outside of quotes would not get the vault that is meant; the first steps are commands by themselves.
  @Test func `no hint names a command without quotes`() throws {
    let folder = SourceTexts.root.appending(path: "Sources/KuraCLI")
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    where name.hasSuffix(".swift")
      && !["Shell.swift", "FirstSteps.swift"].contains(where: name.hasSuffix)
    {
      let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let verbs = CommandTable.all.map(\.verb).joined(separator: "|")
      let bare = try Regex("\"[^\"\n]*[^'a-z-]kura (\(verbs))\\b")
      for line in source.split(separator: "\n") where !line.contains("///") {
        #expect(line.firstMatch(of: bare) == nil, "\(name): \(line)")
      }
    }
  }
}

@Suite struct VaultHintTests {
  private func hint(_ text: String, _ vault: String?) -> String {
    VaultHint.text(text, about: vault.map { Array($0.utf8) })
  }

  @Test func `a command gets the vault that is meant`() {
    #expect(hint("run 'kura unlock'", "work") == "run 'kura --vault work unlock'")
    #expect(
      hint("'kura init' or 'kura list -l'", "/v/w.kura")
        == "'kura --vault /v/w.kura init' or 'kura --vault /v/w.kura list -l'")
    #expect(hint("run 'kura unlock'", nil) == "run 'kura unlock'")
  }

  @Test(arguments: [
    "'kura vaults' lists them", "'kura help get' tells", "'kura agent stop'",
    "'kura --vault other unlock'", "'kura-agent --foreground'", "'kura frobnicate'", "it's 'kura'",
    "",
  ])
  func `what needs no vault stays`(_ text: String) {
    #expect(hint(text, "work") == text)
  }

  @Test(arguments: [
    ("my vault", "\"my vault\""), ("a\"b", "\"a\\\"b\""), ("$x", "\"\\$x\""), ("a`b", "\"a\\`b\""),
    ("a\\b", "\"a\\\\b\""), ("it's", "\"it's\""), ("~/v.kura", "\"~/v.kura\""),
    ("ä.kura", "ä.kura"), ("a!b c", "\"a\"\\!\"b c\""), ("a\nb", "FILE"), ("a\u{7F}", "FILE"),
  ])
  func `a shell takes it as one word`(_ row: (String, String)) {
    #expect(VaultHint.quoted(Array(row.0.utf8)) == row.1)
  }

  @Test func `the vault is the reference's, else the option's, else the variable's`() {
    let variables = Variables { $0 == "KURA_VAULT" ? "variable" : nil }
    func vault(_ operand: String?, _ option: String?) -> String? {
      var arguments = Arguments()
      if let operand { arguments.operands = [Array(operand.utf8)] }
      if let option {
        arguments.options = [Arguments.Given(name: .vault, value: Array(option.utf8))]
      }
      return VaultHint.vault(arguments, variables).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(vault("kura://@reference/x", "option") == "reference")
    #expect(vault("kura://x", "option") == "option")
    #expect(vault("x", nil) == "variable")
    #expect(VaultHint.vault(Arguments(), Variables { _ in nil }) == nil)
  }
}

@Suite struct PeerWordTests {
  @Test(arguments: [
    ("set", "kura put NAME"), ("insert", "kura put NAME"), ("cp", "kura mv OLD NEW"),
    ("search", "kura find TEXT"), ("remove", "kura rm NAME"), ("version", "kura --version"),
    ("load", "kura import json-lines"), ("dump", "kura export json-lines -o FILE"),
  ])
  func `the verb of another tool is led to the one meant`(_ row: (String, String)) {
    let hint = ArgumentParser.refusal([row.0])?.hint
    #expect(hint?.contains("'" + row.1 + "'") == true, "\(hint ?? "")")
  }

  @Test(arguments: CommandTable.aliases)
  func `an alias is its verb`(_ alias: (String, String)) {
    #expect(CommandTable.command(Array(alias.0.utf8))?.verb == alias.1)
    #expect(!CommandTable.all.contains { $0.verb == alias.0 })
  }
}
