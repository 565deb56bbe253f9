// SPDX-License-Identifier: MIT

import Testing

/// A function's first line and how many lines it has, braces counted outside of string literals.
private func functions(in file: SourceTree.File) -> [(line: Int, count: Int)] {
  var found: [(Int, Int)] = []
  var open: (start: Int, depth: Int, seen: Bool)?
  for (number, text) in file.code {
    if open == nil, text.contains("func ") || text.contains("init"),
      text.contains(/(^|\s)(func\s+\S|init[?(<])/),
      !text.contains("\"") || text.contains("{")
    {
      open = (number, 0, false)
    }
    guard var current = open else { continue }
    let bare =
      text.contains("\"") ? text.replacing(/"([^"\\]|\\.)*"/, with: "") : text
    let up = bare.count { $0 == "{" }
    current.depth += up - bare.count { $0 == "}" }
    current.seen = current.seen || up > 0
    open = current
    if current.seen, current.depth <= 0 {
      found.append((current.start, number - current.start + 1))
      open = nil
    } else if !current.seen, number - current.start > 12 {
      open = nil
    }
  }
  return found
}

/// Whether a function is one `switch` without `default:`, or one literal: a table, which is read row by
/// row, and cut in parts would need a `default:` in each.
private func isTable(_ line: Int, _ count: Int, in file: SourceTree.File) -> Bool {
  let code = file.code.filter { (line..<(line + count)).contains($0.number) }.map { $0.text }
    .filter { !$0.isEmpty }
  guard let last = code.last else { return false }
  // What stands one step further in than the function's end; a signature of several lines ends first.
  let indentation = last.prefix { $0 == " " }
  let start = code.firstIndex { $0.hasSuffix("{") && !$0.hasPrefix(indentation + "  ") }
  guard let start, start + 1 < code.count - 1 else { return false }
  let steps = code[(start + 1)...].dropLast().filter {
    $0.hasPrefix(indentation + "  ") && !$0.hasPrefix(indentation + "   ")
  }.map { $0.drop { $0 == " " } }
  guard let first = steps.first, let end = steps.last else { return false }
  if first == "[" || first == "return [" { return steps.count == 2 && end == "]" }
  guard first.hasPrefix("switch ") || first.hasPrefix("return switch "), end == "}" else {
    return false
  }
  return steps.dropFirst().dropLast().allSatisfy { $0.hasPrefix("case ") }
}

@Suite struct SizeTests {
  @Test(arguments: SourceTree.sources + SourceTree.tests)
  func `a file has at most 400 lines`(_ file: SourceTree.File) {
    #expect(file.lines.count <= 401, "\(file.path): \(file.lines.count) lines")
  }

  @Test(arguments: SourceTree.sources)
  func `a function has at most 50 lines`(_ file: SourceTree.File) {
    for (line, count) in functions(in: file) {
      let limit = isTable(line, count, in: file) ? 150 : 50
      #expect(count <= limit, "\(file.path):\(line): \(count) lines")
    }
  }

  @Test func `the check sees a long function`() {
    let body = Array(repeating: "    step()", count: 60)
    let file = SourceTree.File(
      path: "Sources/KuraCLI/Planted.swift",
      text: (["  func long() {"] + body + ["  }"]).joined(separator: "\n"))
    #expect(functions(in: file).map(\.count) == [62])
  }

  /// Whether a function of some lines between its braces is taken for a table.
  private func isTaken(_ body: [String]) -> Bool {
    let text = (["extension X {", "  func table(", "    _ x: X", "  ) {"] + body + ["  }", "}"])
      .joined(separator: "\n")
    let file = SourceTree.File(path: "Sources/KuraCLI/Planted.swift", text: text)
    return isTable(2, body.count + 4, in: file)
  }

  @Test func `only one whole switch or literal is a table`() {
    let rows = ["    case .a: step()", "    case .b:", "      step()", "      step()"]
    #expect(isTaken(["    switch x {"] + rows + ["    }"]))
    #expect(isTaken(["    return switch x {"] + rows + ["    }"]))
    #expect(isTaken(["    return [", "      (\"a\", 1),", "      (\"b\", 2),", "    ]"]))
    #expect(!isTaken(["    switch x {"] + rows + ["    default: step()", "    }"]))
    #expect(!isTaken(["    let x = y", "    switch x {"] + rows + ["    }"]))
    #expect(!isTaken(["    switch x {"] + rows + ["    }", "    step()"]))
    #expect(!isTaken(["    switch x {"] + rows + ["    }", "    switch x {"] + rows + ["    }"]))
    #expect(!isTaken(["    if x {", "      step()", "    }"]))
  }
}
