// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Words that need a reason on the line above, and the places where others may stand.
@Suite struct WordTests {
  static var reasoned: [Regex<Substring>] {
    [/\btry!/, /\bas!/, /@unchecked Sendable/, /nonisolated\(unsafe\)/]
  }

  @Test(arguments: SourceTree.sources)
  func `a file starts with its licence and nothing more`(_ file: SourceTree.File) {
    #expect(file.lines.first == "// SPDX-License-Identifier: MIT")
    #expect(file.lines.count > 1 && file.lines[1].isEmpty)
  }

  @Test(arguments: SourceTree.sources)
  func `a word that switches a check off has its reason above`(_ file: SourceTree.File) {
    // Only where one of the words is said an expression is tried on each line.
    guard file.has(anyOf: ["try!", "as!", "@unchecked", "nonisolated"]) else { return }
    for (number, text) in file.code where Self.reasoned.contains(where: { text.contains($0) }) {
      let above = (1...3).contains { back in
        number - 1 - back >= 0
          && file.lines[number - 1 - back].trimmingCharacters(in: .whitespaces).hasPrefix("//")
      }
      #expect(above, "\(file.path):\(number): \(text.trimmingCharacters(in: .whitespaces))")
    }
  }

  @Test(arguments: SourceTree.sources)
  func `no file has a name that says nothing`(_ file: SourceTree.File) throws {
    // A command is named for its verb.
    guard !file.path.contains("/Commands/") else { return }
    let name = try #require(file.path.split(separator: "/").last)
    for word in ["Util", "Helper", "Manager", "Service", "Impl", "Base", "Common", "Misc"] {
      #expect(!name.contains(word))
    }
  }

  @Test(arguments: SourceTree.sources)
  func `no work is left for later in the code`(_ file: SourceTree.File) {
    // As above: most files have none of them.
    guard file.has(anyOf: ["TODO", "FIXME", "XXX", "HACK"]) else { return }
    for (index, line) in file.lines.enumerated() {
      #expect(!line.contains(/\b(TODO|FIXME|XXX|HACK)\b/), "\(file.path):\(index + 1)")
    }
  }

  @Test func `the check sees a word that is there`() {
    let file = SourceTree.File(path: "Sources/KuraCLI/Planted.swift", text: "let a = 1\nb as! Int")
    #expect(file.has(anyOf: ["try!", "as!"]) && !file.has(anyOf: ["try!"]))
  }
}
