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

@Suite struct SizeTests {
  @Test(arguments: SourceTree.sources + SourceTree.tests)
  func `a file has at most 400 lines`(_ file: SourceTree.File) {
    #expect(file.lines.count <= 401, "\(file.path): \(file.lines.count) lines")
  }

  @Test(arguments: SourceTree.sources)
  func `a function has at most 50 lines`(_ file: SourceTree.File) {
    for (line, count) in functions(in: file) {
      #expect(count <= 50, "\(file.path):\(line): \(count) lines")
    }
  }

  @Test func `the check sees a long function`() {
    let body = Array(repeating: "    step()", count: 60)
    let file = SourceTree.File(
      path: "Sources/KuraCLI/Planted.swift",
      text: (["  func long() {"] + body + ["  }"]).joined(separator: "\n"))
    #expect(functions(in: file).map(\.count) == [62])
  }
}
