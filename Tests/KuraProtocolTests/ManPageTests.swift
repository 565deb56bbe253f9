// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import Testing

/// The man page is what others write clients from: the program and the page say the same.
struct ManPageTests {
  private static let page: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try? String(
      contentsOf: root.appending(path: "man/kura-protocol.5"), encoding: .utf8)
    return (text ?? "").components(separatedBy: "\n")
  }()

  /// The bytes under each label of the page's examples.
  private static let golden: [String: [UInt8]] = {
    let lines = page.drop { $0 != ".Sh EXAMPLES" }.drop { $0 != ".Bd -literal" }.dropFirst()
    var messages: [String: [UInt8]] = [:]
    var label = ""
    for line in lines.prefix(while: { $0 != ".Ed" }) {
      if line.hasPrefix("  ") {
        messages[label, default: []] += line.split(separator: " ").compactMap {
          UInt8($0, radix: 16)
        }
      } else {
        label = line
      }
    }
    return messages
  }()

  @Test(arguments: Examples.all)
  func `the page shows the bytes that are written`(_ example: Example) {
    #expect(Self.golden[example.label] == example.bytes)
  }

  @Test func `the page shows no message that is not written`() {
    #expect(Set(Self.golden.keys) == Set(Examples.all.map(\.label)))
    #expect(Examples.all.count == Set(Examples.all.map(\.label)).count)
  }

  @Test func `each verb and each type of frame has an example`() throws {
    let types = Set(Self.golden.values.map { $0[4] })
    #expect(types == Set(FrameType.allCases.map(\.rawValue)))
    let verbs = Self.golden.values.filter { $0[4] == FrameType.request.rawValue }.map { $0[5] }
    #expect(Set(verbs) == Set(Verb.allCases.map(\.rawValue)))
  }

  /// The cells of the rows that begin so.
  private func rows(_ head: String) -> [[String]] {
    Self.page.filter { $0.hasPrefix(".It Li " + head) }.map {
      $0.dropFirst(".It Li ".count).components(separatedBy: " Ta ")
    }
  }

  @Test func `the page lists each code with the status it ends with`() {
    let listed = rows("").compactMap { row in Int(row[0]).map { [$0, Int(row[2]) ?? -1] } }
    let failures = Failure.allCases.map { [Int($0.rawValue), Int($0.exitStatus.rawValue)] }
    #expect(listed == failures)
  }

  @Test func `the page lists each type of frame with its limit`() {
    let listed = rows("0x").map { row in
      [row[0], row[1], row[3].replacingOccurrences(of: ",", with: "")]
    }
    let types = FrameType.allCases.map { type in
      [
        "0x" + (type.rawValue < 16 ? "0" : "") + String(type.rawValue, radix: 16),
        type.sender == .client ? "client" : "agent", String(type.limit),
      ]
    }
    #expect(listed == types)
  }

  @Test func `the page has a section for each verb, under its word`() {
    let sections = Self.page.filter { $0.wholeMatch(of: /\.Ss \d.*/) != nil }
    #expect(sections == Verb.allCases.map { ".Ss \($0.rawValue) \($0.word)" })
  }
}
