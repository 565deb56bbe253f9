// SPDX-License-Identifier: MIT

import Foundation

/// Text that is not a story, and where.
struct StorySyntaxError: Error, CustomStringConvertible {
  var place: Place
  var message: String
  var description: String { "\(place.path):\(place.line): \(message)" }
}

/// Reads the text of a story.
///
/// Paragraphs are parted by blank lines and headed by `#` lines: the fact that they show. A line
/// at the margin is a step; the indented lines below it belong to it. ``Action``, ``TerminalStep``
/// and ``ExpectedText`` name the forms.
struct StoryParser {
  /// Where `use PART` finds `PART.txt`.
  let parts: String
  private var paragraphs: [Paragraph] = []
  private var current = Paragraph(fact: "", steps: [])

  init(parts: String) { self.parts = parts }

  static func parse(file path: String) throws -> Story {
    let folder = (path as NSString).deletingLastPathComponent
    let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
    return try parse(
      String(contentsOfFile: path, encoding: .utf8), name: name, path: path,
      parts: folder + "/parts")
  }

  static func parse(_ text: String, name: String, path: String, parts: String) throws -> Story {
    var parser = StoryParser(parts: parts)
    try parser.read(text, path: path)
    parser.endParagraph()
    return Story(name: name, paragraphs: parser.paragraphs)
  }

  private mutating func read(_ text: String, path: String) throws {
    var block: (place: Place, head: String, body: [String])?
    for (index, line) in Self.joinedLines(text) {
      if line.hasPrefix("  ") {
        guard block != nil else {
          throw StorySyntaxError(
            place: Place(path: path, line: index), message: "an indented line below no step")
        }
        block?.body.append(String(line.dropFirst(2)))
        continue
      }
      try append(block)
      block = nil
      if line.isEmpty {
        endParagraph()
      } else if line.hasPrefix("#") {
        addHeading(line)
      } else if line.hasPrefix(StepWord.use.rawValue + " ") {
        try use(part: String(line.dropFirst(4)), at: Place(path: path, line: index))
      } else {
        block = (Place(path: path, line: index), line, [])
      }
    }
    try append(block)
  }

  /// The lines with their numbers; a backslash at the end joins the next one.
  private static func joinedLines(_ text: String) -> [(Int, String)] {
    var result: [(Int, String)] = []
    var pending: (Int, String)?
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (offset, line) in lines.enumerated() {
      let start = pending?.0 ?? offset + 1
      let whole = pending.map { $0.1 + line.drop { $0 == " " } } ?? String(line)
      if whole.hasSuffix("\\") {
        pending = (start, String(whole.dropLast()))
      } else {
        result.append((start, whole))
        pending = nil
      }
    }
    return result
  }

  private mutating func addHeading(_ line: String) {
    if !current.steps.isEmpty { endParagraph() }
    let text = line.drop { $0 == "#" || $0 == " " }
    current.fact += current.fact.isEmpty ? text : " " + text
  }

  private mutating func endParagraph() {
    if !current.steps.isEmpty { paragraphs.append(current) }
    current = Paragraph(fact: "", steps: [])
  }

  private mutating func use(part: String, at place: Place) throws {
    let path = "\(parts)/\(part).txt"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw StorySyntaxError(place: place, message: "no part at \(path)")
    }
    try read(text, path: path)
  }

  private mutating func append(_ block: (place: Place, head: String, body: [String])?) throws {
    guard let block else { return }
    guard !current.fact.isEmpty else {
      throw StorySyntaxError(place: block.place, message: "a paragraph without a heading")
    }
    do {
      let action = try Action(head: block.head, body: block.body)
      current.steps.append(Step(place: block.place, action: action))
    } catch {
      throw StorySyntaxError(place: block.place, message: error.message)
    }
  }
}
