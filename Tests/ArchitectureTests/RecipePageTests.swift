// SPDX-License-Identifier: MIT

import Testing

/// What kura-recipes(7) gives to be copied is run as it stands: a story, or a program of the night, has each block by
/// the tool that reads it out of the page.
@Suite struct RecipePageTests {
  /// The blocks of the page: the heading that each stands below, and which one of that heading's it is.
  private static func blocks(of page: String) -> [(name: String, number: Int)] {
    var (blocks, name, number): ([(String, Int)], String, Int) = ([], "", 0)
    for line in page.split(separator: "\n") {
      if line.hasPrefix(".Ss ") { (name, number) = (String(line.dropFirst(4)), 0) }
      guard line.hasPrefix(".Bd ") else { continue }
      number += 1
      blocks.append((name, number))
    }
    return blocks
  }

  /// Whether a text has the tool print a block.
  private static func runs(_ text: String, _ name: String, _ number: Int) -> Bool {
    let names = name.contains(" ") ? ["'\(name)'"] : [name]
    return names.contains { name in
      let call = "recipe \(name)"
      return text.ranges(of: call).contains { range in
        let rest = text[range.upperBound...]
        let isFirst = !rest.hasPrefix(" ") || rest.dropFirst().first?.isNumber != true
        return number == 1 ? isFirst || rest.hasPrefix(" 1") : rest.hasPrefix(" \(number)")
      }
    }
  }

  @Test func `every block of the page is run`() throws {
    let page = try #require(SourceTree.file("man/kura-recipes.7")).text
    let stories = SourceTree.files(below: "Fixtures/scripts", endings: [".txt"]).map(\.text)
    let blocks = Self.blocks(of: page)
    #expect(blocks.count > 20)
    for (name, number) in blocks {
      #expect(
        stories.contains { Self.runs($0, name, number) }, "block \(number) of \(name) is never run")
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
  }
}
