// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import Testing

@testable import KuraCLI

private func help(_ command: Command?, columns: Int = 80) throws -> String {
  var output = try Output.page(isTerminal: false)
  try HelpText(columns: columns).write(command, to: &output)
  var text = ""
  output.take { bytes in text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  return text
}

@Suite struct CommandTableTests {
  @Test func `no verb stands twice`() {
    let verbs = CommandTable.all.map(\.verb)
    #expect(Set(verbs).count == verbs.count)
  }

  @Test(arguments: CommandTable.all.map(\.verb))
  func `no option of a verb stands twice`(_ verb: String) throws {
    let command = try #require(CommandTable.command(Array(verb.utf8)))
    let options = command.options + command.sharedOptions + Option.general + Option.programs
    let names = options.map(\.name)
    #expect(Set(names).count == names.count)
    let letters = options.compactMap(\.letter)
    #expect(Set(letters).count == letters.count)
  }

  @Test func `every option there is belongs to a verb`() {
    let used = CommandTable.all.flatMap { $0.options + $0.sharedOptions }
    let all = Set((used + Option.general + Option.programs).map(\.name))
    #expect(all == Set(OptionName.allCases))
  }

  @Test func `a verb is spelled in full`() {
    #expect(CommandTable.command(Array("get".utf8))?.verb == "get")
    #expect(CommandTable.command(Array("ge".utf8)) == nil)
    #expect(CommandTable.command([]) == nil)
  }
}

@Suite struct HelpTests {
  @Test(arguments: CommandTable.all.map(\.verb))
  func `a verb's help shows all that it takes, in 80 columns`(_ verb: String) throws {
    let command = try #require(CommandTable.command(Array(verb.utf8)))
    let text = try help(command)
    #expect(text.hasPrefix("usage: kura \(verb)"))
    #expect(text.contains(command.abstract))
    for option in command.options + command.sharedOptions {
      let lines = text.split(separator: "\n").filter { $0.contains(option.synopsis + " ") }
      #expect(lines.count == 1, "\(option.synopsis)")
      #expect(lines.first?.hasSuffix(option.help) == true)
    }
    for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `the overview has a line for each verb, in 80 columns`() throws {
    let text = try help(nil)
    for command in CommandTable.all {
      #expect(text.contains("\n  \(command.verb) "), "\(command.verb)")
    }
    for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test(arguments: CommandTable.all.map(\.verb))
  func `a verb's help ends with an example that is right`(_ verb: String) throws {
    let command = try #require(CommandTable.command(Array(verb.utf8)))
    let last = try #require(try help(command).split(separator: "\n").last)
    #expect(last.hasPrefix("example: kura \(verb)"))
    #expect(NamedCommand.flaw(String(last.dropFirst("example: ".count))) == nil, "\(last)")
  }

  @Test func `each of the first steps is right as it stands`() {
    var count = 0
    for step in FirstSteps.tasks.flatMap(\.steps) {
      for part in step.command.split(separator: "|").flatMap({ $0.split(separator: "&&") }) {
        let text = part.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix("kura ") else { continue }
        count += 1
        #expect(NamedCommand.flaw(text) == nil, "\(text)")
      }
    }
    #expect(count >= 25)
  }

  @Test func `help names what an operand can be`() throws {
    let slot = try help(SlotControl.command)
    for kind in ["passcode", "recovery-key", "key-file", "local"] {
      #expect(slot.contains("\n  \(kind) "), "\(kind)")
    }
    let config = try help(Config.command)
    for key in Config.keys { #expect(config.contains("\n  \(key.name) "), "\(key.name)") }
    #expect(try help(Run.command).contains("kura://NAME"))
  }

  @Test(arguments: [32, 40, 60], [nil] + CommandTable.all.map { Optional($0.verb) })
  func `help fits a narrow terminal, but for words that are wider`(
    _ columns: Int, _ verb: String?
  ) throws {
    let command = try verb.map { try #require(CommandTable.command(Array($0.utf8))) }
    let text = try help(command, columns: columns)
    for line in text.split(separator: "\n") where line.count > columns {
      let isOption = line.hasPrefix("      --") || line.hasPrefix("  -")
      #expect(isOption || !line.drop { $0 == " " }.contains(" "), "\(line)")
    }
    let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
    #expect(words(text) == words(try help(command)))
  }

  @Test func `each line of help is lower case without a full stop`() {
    let all = CommandTable.all.flatMap { [$0.abstract] + $0.options.map(\.help) }
    for line in all + (Option.general + Option.asking + Option.waiting).map(\.help) {
      #expect(line.last != ".", "\(line)")
      #expect(line.first?.isLowercase == true, "\(line)")
    }
  }
}

/// The man page is written by hand; this holds it against the table.
@Suite struct ManPageTests {
  static let page: String = {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let url = root.appending(path: "man/kura.1")
    return (try? String(contentsOf: url, encoding: .utf8)) ?? ""
  }()

  /// The paragraph of a verb: from its `.It Cm` to the next verb's or the next section.
  static func paragraph(_ verb: String) -> String {
    var lines: [Substring] = []
    var isInside = false
    let verbs =
      page.components(separatedBy: ".Sh VERBS\n").last?
      .components(separatedBy: "\n.Sh ").first ?? ""
    for line in verbs.split(separator: "\n") {
      if line.hasPrefix(".It Cm ") {
        let named = line.split(separator: " ")[2]
        if CommandTable.all.contains(where: { $0.verb == named }) { isInside = named == verb }
      } else if line.hasPrefix(".Ss ") {
        isInside = false
      }
      if isInside { lines.append(line) }
    }
    return lines.joined(separator: "\n")
  }

  /// The options in a text: `.Fl -word`, `.Fl x`.
  static func options(in text: String) -> Set<String> {
    Set(text.matches(of: /\bFl (-?[A-Za-z0-9][a-z0-9-]*)/).map { String($0.1) })
  }

  @Test(arguments: CommandTable.all.map(\.verb))
  func `a verb's paragraph names the options it takes, and no others`(_ verb: String) throws {
    let command = try #require(CommandTable.command(Array(verb.utf8)))
    let paragraph = Self.paragraph(verb)
    #expect(!paragraph.isEmpty)
    let found = Self.options(in: paragraph)
    for option in command.options {
      #expect(found.contains("-" + option.name.rawValue), "\(option.name.rawValue)")
      if let letter = option.letter { #expect(found.contains(String(letter)), "-\(letter)") }
    }
    let all = command.options + command.sharedOptions + Option.general
    let known = Set(
      all.map { "-" + $0.name.rawValue } + all.compactMap { $0.letter.map(String.init) })
    #expect(found.subtracting(known).isEmpty, "\(found.subtracting(known))")
  }

  @Test func `the shared options stand in their own paragraphs`() {
    for option in Option.general + Option.programs + Option.asking + Option.waiting {
      #expect(Self.page.contains(".It Fl"), "\(option.name.rawValue)")
      #expect(Self.page.contains("-" + option.name.rawValue), "\(option.name.rawValue)")
    }
  }

  @Test(arguments: KuraProtocol.ExitStatus.allCases)
  func `an exit status reads the same in the man page`(_ status: KuraProtocol.ExitStatus) {
    #expect(Self.page.contains(".It \(status.rawValue)\n\(status.name): \(status.summary)\n"))
  }
}
