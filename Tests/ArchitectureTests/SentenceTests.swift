// SPDX-License-Identifier: MIT

import Testing

/// The types of a file whose comment begins with a question word, which says what they hold and not what
/// they are for.
private func riddles(in file: SourceTree.File) -> [Int] {
  var first: Int?
  var found: [Int] = []
  for (index, line) in file.lines.enumerated() {
    let text = line.drop { $0 == " " }
    if text.hasPrefix("///") {
      first = first ?? index
    } else if text.hasPrefix("//") || text.hasPrefix("@") && !text.contains(" struct ") {
      continue
    } else {
      // Of few comments is it worth asking what they are of.
      if let first,
        file.lines[first].contains("/// W") || file.lines[first].contains("/// How"),
        file.lines[first].contains(/\/\/\/ (What|Whether|Why|How|Which|Where|When|Who)\b/),
        text.contains(
          /^(@\w+ )*((public|package|private|fileprivate|final|indirect) )*(struct|enum|class|protocol) \w/
        )
      {
        found.append(first + 1)
      }
      first = nil
    }
  }
  return found
}

/// Whoever looks for a room knows after one sentence whether this is his.
@Suite struct SentenceTests {
  @Test(arguments: SourceTree.sources)
  func `a type's first sentence says what it is for`(_ file: SourceTree.File) {
    for line in riddles(in: file) {
      Issue.record("\(file.path):\(line): \(file.lines[line - 1])")
    }
  }

  @Test func `the check sees a sentence that says only what is held`() {
    let text = """
      /// What a row was.
      struct A {
        /// What it has.
        let b: Int
        /// Why not.
        // A reason.
        private indirect enum C {}
        /// Says why.
        public final class D {}
      }
      """
    let file = SourceTree.File(path: "Sources/KuraVault/Planted.swift", text: text)
    #expect(riddles(in: file) == [1, 5])
  }
}
