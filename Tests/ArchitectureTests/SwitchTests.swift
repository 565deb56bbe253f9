// SPDX-License-Identifier: MIT

import Testing

/// One `default:` of the sources: its file, and what it switches over.
private struct Default: Hashable, Comparable {
  let path: String
  let subject: String

  static func < (one: Default, other: Default) -> Bool {
    (one.path, one.subject) < (other.path, other.subject)
  }

  /// As it stands in the list.
  var text: String { "\(path): \(subject)" }
}

/// The `default:`s of a file, each with the `switch` it belongs to: the last one above that is not
/// further in.
private func defaults(in file: SourceTree.File) -> [Default] {
  var open: [(indentation: Int, subject: String)] = []
  var found: [Default] = []
  for (_, text) in file.code {
    let bare = text.drop { $0 == " " }
    let indentation = text.count - bare.count
    if bare.hasSuffix(" {"), bare.contains("switch "),
      let match = bare.firstMatch(of: /\bswitch (.+) \{$/)
    {
      open.removeAll { $0.indentation >= indentation }
      open.append((indentation, String(match.1)))
    }
    guard bare.hasPrefix("default:") || bare.hasPrefix("@unknown default:") else { continue }
    let own = open.last { $0.indentation <= indentation }
    found.append(Default(path: file.path, subject: own?.subject ?? "?"))
  }
  return found
}

/// What may be a `default:`: lines of `path: subject: reason`, sorted.
private struct Allowance {
  static let path = "Tests/ArchitectureTests/defaults.txt"

  let entries: [Default]
  let reasonless: [String]

  init(_ lines: [String]) {
    var (entries, reasonless): ([Default], [String]) = ([], [])
    for line in lines where !line.isEmpty && !line.hasPrefix("#") {
      // A subject can have a colon, as an argument's label; a reason has none.
      guard let path = line.firstRange(of: ".swift: "), let end = line.ranges(of: ": ").last,
        end.lowerBound > path.upperBound, !line[end.upperBound...].isEmpty
      else {
        reasonless.append(line)
        continue
      }
      entries.append(
        Default(
          path: line[..<path.lowerBound] + ".swift",
          subject: String(line[path.upperBound..<end.lowerBound])))
    }
    self.entries = entries
    self.reasonless = reasonless
  }
}

/// A `switch` over an enum of our own names every case, so that a new one does not compile where it is
/// forgotten.
@Suite struct SwitchTests {
  @Test func `each default has its reason in the list, and each reason its default`() throws {
    let list = Allowance(try #require(SourceTree.file(Allowance.path)).lines)
    let found = SourceTree.sources.flatMap(defaults)
    #expect(list.reasonless.isEmpty)
    #expect(list.entries == list.entries.sorted(), "\(Allowance.path) is not sorted")
    let difference = found.sorted().difference(from: list.entries)
    for change in difference {
      switch change {
      case .insert(_, let one, _): Issue.record("not in \(Allowance.path): \(one.text)")
      case .remove(_, let one, _): Issue.record("only in \(Allowance.path): \(one.text)")
      }
    }
  }

  @Test func `the check sees a default, and whose it is`() {
    let text = """
      func f(_ x: X, _ byte: UInt8) -> Int {
        switch x {
        case .a:
          switch byte {
          case 0: return 1
          default: return 2
          }
        // default: in a comment
        default: return counts[x, default: 0]
        }
        let y = switch (a, b(c: d)) { 
        @unknown default: 3
        }
      }
      """.replacing("{ \n", with: "{\n")
    let file = SourceTree.File(path: "Sources/KuraCLI/Planted.swift", text: text)
    #expect(defaults(in: file).map(\.subject) == ["byte", "x", "(a, b(c: d))"])
  }

  @Test func `a line of the list has a path, a subject and a reason`() {
    let list = Allowance([
      "# kind", "", "Sources/A/B.swift: f(a: b): bytes", "Sources/A/B.swift: x",
      "Sources/A/B.swift: x: ",
    ])
    #expect(list.entries == [Default(path: "Sources/A/B.swift", subject: "f(a: b)")])
    #expect(list.reasonless.count == 2)
  }
}
