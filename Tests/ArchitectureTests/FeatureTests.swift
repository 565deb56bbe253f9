// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// One row of Tests/features.md: a feature, and either what shows it and what takes it out, or the
/// paragraph that says why it is not there.
private struct Feature {
  /// Its words, by column.
  let cells: [String]
  let isOnPurpose: Bool

  static func rows(of text: String) -> [Feature] {
    var section = ""
    var rows: [Feature] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
      guard line.hasPrefix("| "), !line.hasPrefix("| ---"), !line.hasPrefix("| feature |") else {
        continue
      }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
      rows.append(Feature(cells: cells, isOnPurpose: section == "On purpose"))
    }
    return rows
  }

  /// What is wrong with the row.
  var faults: [String] {
    let found = isOnPurpose ? purposeFaults : testFaults
    return found.map { (cells.first ?? "") + ": " + $0 }
  }

  private var purposeFaults: [String] {
    guard cells.count == 2, !cells[0].isEmpty else { return ["two columns, both filled"] }
    return Purpose.all.contains { $0.title == cells[1] && $0.hasReason }
      ? [] : ["no reason stands under \(cells[1])"]
  }

  private var testFaults: [String] {
    guard cells.count == 3, !cells.contains("") else { return ["three columns, all filled"] }
    guard let match = cells[1].wholeMatch(of: /`([\w\/-]+)`: (.+)/) else {
      return ["`test or story`: fact"]
    }
    let (name, fact) = (String(match.1), String(match.2))
    var faults: [String] = []
    if !Self.lines(of: name).contains(where: { Self.states(fact, $0) }) {
      faults.append("\(name) states no such fact: \(fact)")
    }
    guard let head = Self.head(ofMutant: cells[2]) else {
      return faults + ["no mutant \(cells[2])"]
    }
    let noticing = head.filter { $0.hasPrefix("tests: ") || $0.hasPrefix("stories: ") }
      .flatMap { $0.split(separator: " ").dropFirst() }
    if !noticing.contains(where: { $0 == name }) {
      faults.append("mutant \(cells[2]) does not name \(name)")
    }
    if head.contains(where: { $0.hasPrefix("argued: ") || $0.hasPrefix("pair: ") }) {
      faults.append("mutant \(cells[2]) alone turns nothing red")
    }
    return faults
  }

  /// The lines of a story, or of a file of tests that is named as TARGET/FILE.
  private static func lines(of name: String) -> [String] {
    let parts = name.split(separator: "/")
    guard parts.count == 2 else {
      return SourceTree.file("Fixtures/scripts/\(name).txt")?.lines ?? []
    }
    let file = SourceTree.tests.first {
      $0.path.hasPrefix("Tests/\(parts[0])/") && $0.path.hasSuffix("/\(parts[1]).swift")
    }
    return file?.lines ?? []
  }

  private static func states(_ fact: String, _ line: String) -> Bool {
    line == "# " + fact || line.contains("func `" + fact + "`(")
  }

  /// The lines above the changes of a patch.
  private static func head(ofMutant number: String) -> [String]? {
    guard number.count == 3 || number.count == 4,
      let patch = mutants.first(where: { $0.path.hasPrefix("Tests/mutants/\(number)-") })
    else { return nil }
    return Array(patch.lines.prefix { !$0.hasPrefix("--- ") })
  }

  private static let mutants = SourceTree.files(below: "Tests/mutants", endings: [".patch"])
}

/// A paragraph of kura-security(7) that says why something is not there.
private struct Purpose {
  let title: String
  var hasReason = false

  static let all = read(SourceTree.file("man/kura-security.7")?.lines ?? [])

  static func read(_ lines: [String]) -> [Purpose] {
    var found: [Purpose] = []
    let section = lines.drop { $0 != ".Sh NOT DONE, ON PURPOSE" }.dropFirst()
    for line in section.prefix(while: { !$0.hasPrefix(".Sh ") }) {
      if line.hasPrefix(".It Sy ") {
        found.append(Purpose(title: String(line.dropFirst(7))))
      } else if !found.isEmpty, !line.hasPrefix("."), line.hasSuffix(".") {
        found[found.count - 1].hasReason = true
      }
    }
    return found
  }
}

/// Whatever a person may expect of a passcode lock and a keychain is shown by a test that turns red when
/// it is taken out, or the reason why it is not there can be read.
@Suite struct FeatureTests {
  @Test func `each feature has a test and a mutant that turns it red, or a reason`() throws {
    let rows = Feature.rows(of: try DocumentTests.text("Tests/features.md"))
    #expect(rows.count >= 80)
    for row in rows { #expect(row.faults == []) }
    #expect(Set(rows.map { $0.cells[0] }).count == rows.count)
  }

  @Test func `each reason belongs to a feature`() throws {
    let rows = Feature.rows(of: try DocumentTests.text("Tests/features.md"))
    let named = Set(rows.filter(\.isOnPurpose).map { $0.cells[1] })
    #expect(!Purpose.all.isEmpty)
    for purpose in Purpose.all { #expect(named.contains(purpose.title), "\(purpose.title)") }
  }

  /// Rows that are wrong, each with what is said of it.
  private static let planted = [
    ("| a | `init`: An existing file is overwritten |  |", "three columns"),
    ("| a | init-terminal | 301 |", "test or story"),
    ("| a | `init-terminal`: A fact that it does not state | 301 |", "states no such fact"),
    ("| a | `no-such-story`: Passcode and recovery key open it | 301 |", "states no such fact"),
    ("| a | `KuraAgentTests/NoTests`: a fact | 301 |", "states no such fact"),
    ("| a | `init-terminal`: Passcode and recovery key open it | 299 |", "no mutant 299"),
    ("| a | `init-terminal`: Passcode and recovery key open it | 043 |", "does not name"),
    ("| a | `KuraAgentTests/LimitTests`: the socket is ours alone | 080 |", "alone turns nothing"),
    ("## On purpose\n| a | A paragraph that is not there |", "no reason stands under"),
    ("## On purpose\n| a |  |", "no reason stands under"),
  ]

  @Test func `the check sees a row that nothing stands behind`() {
    for (row, fault) in Self.planted {
      let faults = Feature.rows(of: row).flatMap(\.faults)
      #expect(faults.first?.contains(fault) == true, "\(row): \(faults)")
    }
  }

  @Test func `the check takes a row that is right`() {
    let row = "| a fact | `init-terminal`: A passcode typed differently is asked for anew | 302 |"
    #expect(Feature.rows(of: row).map(\.faults) == [[]])
  }

  @Test func `the check sees a paragraph without a reason`() {
    let page = [".Sh NOT DONE, ON PURPOSE", ".It Sy One", "A reason.", ".It Sy Two", ".El"]
    #expect(Purpose.read(page).map(\.hasReason) == [true, false])
  }
}
