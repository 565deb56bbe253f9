// SPDX-License-Identifier: MIT

import Testing

/// The verbs that no text runs.
private func untold(_ verbs: [String], in stories: [String]) -> [String] {
  verbs.filter { verb in !stories.contains { $0.contains("kura \(verb)") } }
}

/// The names of public functions in `sources` that `tests` never call.
private func untested(_ sources: [String], by tests: [String]) -> [String] {
  let declared = sources.flatMap { text in
    text.matches(of: /\n  public (?:mutating |consuming |borrowing )*func (\w+)[(<]/).map {
      String($0.1)
    }
  }
  return Set(declared).filter { name in !tests.contains { $0.contains(".\(name)(") } }.sorted()
}

/// Whoever adds a verb is told what he forgot: CONTRIBUTING has the list.
@Suite struct VerbTests {
  @Test func `each command is a verb of the help`() throws {
    let verbs = Set(try DocumentTests.verbs())
    var found = 0
    for file in SourceTree.sources where file.path.contains("/Commands/") {
      let text = file.lines.joined(separator: "\n")
      guard let command = text.firstMatch(of: /static let command = Command\(\s*"([\w-]+)"/) else {
        continue
      }
      found += 1
      #expect(verbs.contains(String(command.1)), "\(file.path)")
    }
    #expect(found > 25)
  }

  @Test func `each verb has a story that runs it`() throws {
    let stories = SourceTree.files(below: "Fixtures/scripts", endings: [".txt"])
    let texts = stories.map { $0.lines.joined(separator: "\n") }
    #expect(untold(try DocumentTests.verbs(), in: texts) == [])
  }

  @Test func `what is done with items is called by the vault's tests`() {
    let sources = SourceTree.sources.filter { $0.path.hasPrefix("Sources/KuraVault/Items/") }
      .map { $0.lines.joined(separator: "\n") }
    #expect(sources.count > 10)
    let tests = SourceTree.tests.filter { $0.target == "KuraVaultTests" }
    #expect(untested(sources, by: tests.map { $0.lines.joined(separator: "\n") }) == [])
  }

  @Test func `the checks see what is forgotten`() {
    #expect(untold(["touch", "get"], in: ["kura get a\nmy touch"]) == ["touch"])
    let source = "extension V {\n  public mutating func touch(_ a: Int) {}\n  func own() {}\n}"
    #expect(untested([source], by: ["touch", "own("]) == ["touch"])
    #expect(untested([source], by: ["vault.touch(1)"]).isEmpty)
  }
}
