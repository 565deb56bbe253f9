// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// kura-json(5), the source and the stories know the same members, words and verbs. That each document
/// is as the page has it is shown by the story `json-schema`.
@Suite struct SchemaTests {
  private struct Page {
    /// The names at the ends of paths.
    var keys: Set<String> = []
    var verbs: Set<String> = []
    /// What stands in quotes, by the key whose description it stands in.
    var words: [String: Set<String>] = [:]

    init() throws {
      var key = ""
      for line in try DocumentTests.text("man/kura-json.5").split(separator: "\n") {
        if let heading = line.wholeMatch(of: /^\.Ss (kura .+)$/) {
          verbs.formUnion(heading.1.split(separator: ", ").map { String($0.dropFirst(5)) })
        } else if let item = line.firstMatch(of: /^\.It Va (\S+) Pq\b/) {
          let name = item.1.split(separator: ".").last.map(String.init) ?? ""
          key = name.replacing("[]", with: "")
          if key != "*" { keys.insert(key) }
        } else if let word = line.firstMatch(of: /^\.Ql ([\w-]+)/) {
          words[key, default: []].insert(String(word.1))
        }
      }
    }
  }

  /// Where documents are written; what other programs are told, and what is exported, has their schemas.
  private static let writers = SourceTree.sources.filter { file in
    file.target == "KuraCLI"
      && !["/Credentials/", "/Export/", "/MCP/"].contains { file.path.contains($0) }
  }

  private static func literals(
    _ pattern: Regex<(Substring, Substring)>, in files: [SourceTree.File]
  ) -> Set<String> {
    Set(files.flatMap { $0.code.flatMap { $0.text.matches(of: pattern).map { String($0.1) } } })
  }

  @Test func `each key that is written is described, and no other`() throws {
    let written = Self.literals(/[. ](?:member|key)\("([a-z0-9-]+)"/, in: Self.writers)
    let settings = Self.literals(
      /case \.\w+: "([a-z-]+)"/,
      in: SourceTree.sources.filter { $0.path.hasSuffix("KuraTerms/Setting.swift") })
    #expect(written.count > 40)
    #expect(settings.count > 5)
    let expected = written.union(settings).subtracting(["base64"])
    #expect(try Page().keys.symmetricDifference(expected) == [])
  }

  @Test func `each verb that takes --json is described, and no other`() throws {
    let page = try Page()
    // In place of a verb.
    var taking: Set<String> = ["--version"]
    for verb in try DocumentTests.verbs() {
      let help = try DocumentTests.output(of: "kura", ["help", verb]).text
      if help.contains("--json") { taking.insert(verb) }
    }
    #expect(taking.count > 10)
    let described = Set(page.verbs.compactMap { $0.split(separator: " ").first.map(String.init) })
    #expect(described.symmetricDifference(taking) == [])
    let sections = try DocumentTests.text("man/kura.1").split(separator: "\n.Sh ")
    let text = try #require(sections.first { $0.hasPrefix("JSON\n") })
    for verb in page.verbs {
      #expect("\(text)\n".contains(try Regex("[ ]\(verb)[ \n]")), "\(verb)")
    }
  }

  @Test func `each verb has a story that holds its documents`() throws {
    let story = try DocumentTests.text("Fixtures/scripts/json-schema.txt")
    for verb in try Page().verbs {
      let word = verb.contains(" ") ? "'\(verb)'" : verb
      #expect(story.contains("schema \(word)"), "\(verb)")
    }
  }

  @Test func `each reason and weakness is described`() throws {
    let page = try Page()
    let reasons = Self.literals(
      /case \.\w+: "([a-z ]+)"/,
      in: SourceTree.sources.filter { $0.path.hasSuffix("KuraProtocol/LockReason.swift") })
    #expect(reasons.count > 8)
    #expect(page.words["reason"] == Set(reasons.map { $0.replacing(" ", with: "-") }))
    let notices = SourceTree.sources.filter { $0.path.hasSuffix("Words/Notices.swift") }
    let weaknesses = Self.literals(/^\s*\(?\.\w+, "([a-z-]+)"/, in: notices)
    #expect(weaknesses.count > 4)
    #expect(page.words["weaknesses"] == weaknesses)
  }

  @Test func `each action of the log that is no request is described`() throws {
    let log = SourceTree.sources.filter { $0.path.hasSuffix("Words/LogWords.swift") }
    let own = Self.literals(/case \.[\w, .]+: "([a-z-]+)"$/, in: log)
      .subtracting(["passcode", "code"])
    #expect(own.count > 10)
    // Two requests stand there as examples.
    #expect(try Page().words["action"]?.symmetricDifference(own) == ["put", "get-attribute"])
  }

  @Test func `each finding of verify stands in the list, under its code`() throws {
    let page = try DocumentTests.text("man/kura-json.5")
    let source = try DocumentTests.text("Sources/KuraTerms/FindingKind.swift")
    var texts: [Substring: Substring] = [:]
    for text in source.matches(of: /case \.(\w+): "(.+)"/) { texts[text.1] = text.2 }
    let codes = source.matches(of: /case (\w+) = (\d+)/)
    #expect(codes.count > 10)
    for code in codes {
      let text = try #require(texts[code.1])
      #expect(page.contains("\n.It \(code.2) Ta \(text)\n"), "\(code.1)")
    }
  }
}
