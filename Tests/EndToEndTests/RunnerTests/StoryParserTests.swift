// SPDX-License-Identifier: MIT

import Foundation
import TestGround
import Testing

@Suite struct StoryParserTests {
  private func parse(_ text: String, parts: String = "/nowhere") throws -> [Paragraph] {
    try StoryParser.parse(text, name: "n", path: "n.txt", parts: parts).paragraphs
  }

  @Test func `a paragraph is its heading and its steps`() throws {
    let paragraphs = try parse("# The title.\n\n# One\n# fact\ntrue\nfalse\n\n# Two\ntrue\n")
    #expect(paragraphs.map(\.fact) == ["One fact", "Two"])
    #expect(paragraphs.map { $0.steps.map(\.place.line) } == [[5, 6], [9]])
  }

  @Test func `a heading parts paragraphs without a blank line`() throws {
    #expect(try parse("# One\ntrue\n# Two\ntrue\n").map(\.fact) == ["One", "Two"])
  }

  @Test func `a backslash joins lines`() throws {
    let paragraphs = try parse("# One\necho a \\\n    b\n")
    #expect(paragraphs[0].steps[0].action == .run(Command(shell: "echo a b")))
  }

  @Test func `statuses and times are read`() throws {
    let steps = try parse("# One\nwithin 1.5s ! 4 kura get x\n  2>~ locked\n")[0].steps
    var command = Command(shell: "kura get x", patience: .seconds(1.5))
    command.expectation.status = .exactly(4)
    command.expectation.messages.patterns = ["locked"]
    #expect(steps[0].action == .run(command))
  }

  @Test func `keys stand in caret notation`() throws {
    let steps = try parse("# One\ntty cat\n  press a^?^U^^é\n")[0].steps
    let keys = [0x61, 0x7f, 0x15, 0x5e] + Array("é".utf8)
    #expect(steps[0].action == .run(Command(shell: "cat", terminal: [.press(keys)])))
  }

  @Test func `a part is read in its place`() throws {
    let folder = try Ground.onDisk.directory("parts")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try "# Set up\ntrue\n".write(toFile: folder + "/a.txt", atomically: true, encoding: .utf8)
    let paragraphs = try parse("use a\n\n# One\nfalse\n", parts: folder)
    #expect(paragraphs.map(\.fact) == ["Set up", "One"])
    #expect(paragraphs[0].steps[0].place.path == folder + "/a.txt")
  }

  @Test(arguments: [
    ("true\n", 1, "without a heading"),
    ("  > a\n", 1, "below no step"),
    ("# One\ntrue\n  a\n", 2, "not an expectation"),
    ("# One\ntty true\n  jump\n", 2, "not something done at a terminal"),
    ("# One\ntrue\n  >~ (\n", 2, "not a pattern"),
    ("# One\nwithin 5 true\n", 2, "not a time"),
    ("# One\nsignal BOO a\n", 2, "not a signal"),
    ("# One\nenv NAME\n", 2, "env NAME=VALUE"),
    ("# One\n! 4\n", 2, "no command"),
    ("# One\nuse none\n", 2, "no part"),
  ])
  func `what cannot be read is refused with its line`(
    text: String, line: Int, message: String
  ) throws {
    let error = try #require(throws: StorySyntaxError.self) { try parse(text) }
    #expect(error.place.line == line)
    #expect(error.message.contains(message))
  }
}
