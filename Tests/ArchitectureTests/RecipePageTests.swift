// SPDX-License-Identifier: MIT

import Testing

/// What kura-recipes(7), kura-helpers(7) and kura(1), of keeping a vault safe, give to be copied is run as it stands: a
/// story has each block by the tool that reads it out of the page.
@Suite struct RecipePageTests {
  /// The blocks of the page: the heading that each stands below, and which one of that heading's it is.
  private static func blocks(
    of page: String, below heading: String = ".Ss "
  ) -> [(name: String, number: Int)] {
    var (blocks, name, number): ([(String, Int)], String, Int) = ([], "", 0)
    for line in page.split(separator: "\n") {
      if line.hasPrefix(heading) { (name, number) = (String(line.dropFirst(4)), 0) }
      guard line.hasPrefix(".Bd ") || line.hasPrefix(".Dl ") else { continue }
      number += 1
      blocks.append((name, number))
    }
    return blocks
  }

  /// Whether a text has the tool print a block.
  private static func runs(
    _ text: String, _ name: String, _ number: Int, by tool: String = "recipe"
  ) -> Bool {
    let names = name.contains(" ") ? ["'\(name)'"] : [name]
    return names.contains { name in
      let call = "\(tool) \(name)"
      return text.ranges(of: call).contains { range in
        let rest = text[range.upperBound...]
        if text[..<range.lowerBound].last == "-" { return false }
        let isFirst = !rest.hasPrefix(" ") || rest.dropFirst().first?.isNumber != true
        return number == 1 ? isFirst || rest.hasPrefix(" 1") : rest.hasPrefix(" \(number)")
      }
    }
  }

  @Test(arguments: [
    ("kura-recipes.7", ".Ss ", "recipe"), ("kura-helpers.7", ".Sh ", "helper-recipe"),
    ("kura.1", ".Ss ", "safe-recipe"),
  ])
  func `every block of a page is run`(page: String, heading: String, tool: String) throws {
    var text = try #require(SourceTree.file("man/\(page)")).text
    if tool == "safe-recipe" {
      let part = try #require(text.firstMatch(of: /(?s)\n\.Sh KEEPING IT SAFE\n(.*?)\n\.Sh\x20/))
      text = String(part.1)
    }
    let stories = SourceTree.files(below: "Fixtures/scripts", endings: [".txt"]).map(\.text)
    let blocks = Self.blocks(of: text, below: heading)
    #expect(blocks.count > (tool == "safe-recipe" ? 3 : 15))
    for (name, number) in blocks {
      #expect(
        stories.contains { Self.runs($0, name, number, by: tool) },
        "block \(number) of \(name) in \(page) is never run")
    }
  }

  @Test func `the check sees a block that is never run`() {
    let page =
      ".Ss one\n.Bd -literal\na\n.Ed\n.Bd -literal\nb\n.Ed\n.Ss two\n.Bd -literal\nc\n.Ed\n"
    #expect(Self.blocks(of: page).map { "\($0.name) \($0.number)" } == ["one 1", "one 2", "two 1"])
    #expect(Self.runs("bash -ec \"$(recipe one)\"", "one", 1))
    #expect(!Self.runs("bash -ec \"$(recipe one)\"", "one", 2))
    #expect(!Self.runs("bash -ec \"$(recipe one 2)\"", "one", 1))
    #expect(Self.runs("recipe 'two words' > x", "two words", 1))
    #expect(!Self.runs("recipe one", "two", 1))
    #expect(!Self.runs("helper-recipe one", "one", 1))
    #expect(Self.runs("helper-recipe one", "one", 1, by: "helper-recipe"))
    #expect(
      Self.blocks(of: ".Sh one\n.Dl a\n", below: ".Sh ").map { "\($0.name) \($0.number)" } == [
        "one 1"
      ])
  }
}
