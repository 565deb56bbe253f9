// SPDX-License-Identifier: MIT

import Testing

/// What kura-grants(7) says of an attacker and a layer is shown by a story.
@Suite struct GrantPageTests {
  /// The page's lines from `.Sh WHO IS STOPPED` to the next section, parted by attackers.
  private static func attackers() throws -> [(name: String, lines: ArraySlice<String>)] {
    let lines = try #require(SourceTree.file("man/kura-grants.7")).lines
    let start = try #require(lines.firstIndex(of: ".Sh WHO IS STOPPED"))
    let end = try #require(lines[(start + 1)...].firstIndex { $0.hasPrefix(".Sh ") })
    return lines[start..<end].split { $0.hasPrefix(".Ss ") }.dropFirst()
      .map { (lines[$0.startIndex - 1], $0) }
  }

  @Test func `each attacker meets each layer, and a story shows what comes of it`() throws {
    let attackers = try Self.attackers()
    #expect(
      attackers.map(\.name) == [
        ".Ss A careless program", ".Ss A curious program",
        ".Ss A hostile program of the same user", ".Ss A hostile program in the room", ".Ss Root",
      ])
    for (name, lines) in attackers {
      let cells = lines.split { $0.hasPrefix(".It Em ") }.dropFirst()
      let layers = cells.map { lines[$0.startIndex - 1].dropFirst(".It Em ".count) }
      #expect(Set(layers).isSuperset(of: ["grants", "masking", "room"]), "\(name)")
      for cell in cells {
        let stories = cell.compactMap { $0.firstMatch(of: /^\.Pq Li ([a-z-]+)/)?.1 }
        #expect(!stories.isEmpty, "\(name): \(cell)")
        for story in stories {
          #expect(SourceTree.file("Fixtures/scripts/\(story).txt") != nil, "\(story)")
        }
      }
    }
  }
}
