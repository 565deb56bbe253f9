// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Holds the story language's page, `Fixtures/scripts/README.md`, against what the interpreter knows.
@Suite struct ReferenceTests {
  /// The page, its sections by their titles.
  private struct Page {
    private let sections: [Substring: [Substring]]

    init(_ text: String) {
      var (sections, title): ([Substring: [Substring]], Substring) = ([:], "")
      for line in text.split(separator: "\n") {
        if line.hasPrefix("## ") {
          title = line.dropFirst(3)
          #expect(sections[title] == nil, "twice: \(title)")
        }
        sections[title, default: []].append(line)
      }
      self.sections = sections
    }

    /// The first word of each name in code quotes in the first column of a section's table; of its
    /// text, where there is no table.
    func names(_ title: String) -> [String] {
      let lines = sections[title[...]] ?? []
      let rows = lines.filter { $0.hasPrefix("| `") }
      let cells =
        rows.isEmpty
        ? lines : rows.map { $0.prefix(upTo: $0.firstRange(of: "` |")?.upperBound ?? $0.endIndex) }
      return cells.flatMap { $0.matches(of: /`([^ `]+)[^`]*`/) }
        .map { String($0.1).replacing("\\|", with: "|") }
    }

    /// The lines of the story that the page begins with.
    var example: String {
      let lines = sections[""] ?? []
      let fences = lines.indices.filter { lines[$0].hasPrefix("```") }
      guard fences.count == 2 else { return "" }
      return lines[(fences[0] + 1)..<fences[1]].joined(separator: "\n")
    }
  }

  /// What the interpreter knows, by the section that tells of it.
  private static func known() throws -> [String: [String]] {
    let tools = try FileManager.default.contentsOfDirectory(atPath: Repository.tools)
    let parts = try FileManager.default.contentsOfDirectory(atPath: Repository.scripts + "/parts")
    let variable = RunnerVariable.nightly.rawValue
    return [
      // A name of the story's own follows `&` at once.
      "Steps": StepWord.allCases.map(\.rawValue) + ["&NAME"],
      "Before a command": CommandWord.allCases.map(\.rawValue),
      "Expectations": Mark.allCases.map(\.rawValue),
      "At a terminal": TerminalWord.allCases.map(\.rawValue),
      "Signals": Array(signalNumbers.keys),
      "Variables": Stage.environment(root: "", binaries: "", inherited: [variable: "1"]).keys
        .sorted(),
      "The runner's variables": RunnerVariable.allCases.map(\.rawValue),
      "Parts": parts.map { $0.replacing(".txt", with: "") },
      "Tools": tools,
    ]
  }

  /// What is on the page and unknown, or known and not on the page.
  private static func differences(_ text: String) throws -> [String] {
    let page = Page(text)
    return try known().flatMap { title, known in
      let told = page.names(title)
      return Set(told).symmetricDifference(known).map { "\(title): \($0)" }
        + Dictionary(grouping: told) { $0 }.filter { $1.count > 1 }.map { "twice: \($0.key)" }
    }.sorted()
  }

  private static func text() throws -> String {
    try String(contentsOfFile: Repository.scripts + "/README.md", encoding: .utf8)
  }

  @Test func `the page tells of every word that the interpreter knows, and of no other`() throws {
    #expect(try Self.differences(Self.text()) == [])
  }

  @Test(arguments: [
    ("| `see TEXT`", "| `look TEXT`", ["At a terminal: look", "At a terminal: see"]),
    ("| `>!~ PATTERN`", "| `>? PATTERN`", ["Expectations: >!~", "Expectations: >?"]),
    ("| `only if COMMAND`", "| only if COMMAND", ["Steps: only"]),
    ("`SEGV`", "`SEGV` `USR1`", ["Signals: USR1"]),
    ("`TMPDIR`, ", "", ["Variables: TMPDIR"]),
    (
      "| `KURA_KEEP`", "| `KURA_STORIES`",
      ["The runner's variables: KURA_KEEP", "twice: KURA_STORIES"]
    ),
    ("| `gone`", "| `here`", ["Tools: gone", "Tools: here"]),
    ("| `vault`", "| `volt`", ["Parts: vault", "Parts: volt"]),
  ])
  func `a planted difference is seen`(was: String, planted: String, seen: [String]) throws {
    let text = try Self.text()
    try #require(text.contains(was))
    #expect(try Self.differences(text.replacing(was, with: planted)) == seen)
  }

  @Test func `the story on the page comes true`() async throws {
    let page = Page(try Self.text())
    let story = try StoryParser.parse(
      page.example, name: "README", path: Repository.scripts + "/README.md",
      parts: Repository.scripts + "/parts")
    #expect(story.paragraphs.count >= 3)
    let performance = await onStage {
      StoryRunner.perform(story, binaries: Repository.binaries)
    }
    #expect(performance.failures.isEmpty, "\(performance.failures.map(\.message))")
    #expect(performance.left.isEmpty)
  }
}
