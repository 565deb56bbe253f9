// SPDX-License-Identifier: MIT

import Testing

/// Keeps `unsafe` where system calls are made and libraries are called: on a list, with reasons.
@Suite struct UnsafeTests {
  /// What differs between a list and the files.
  private static func differences(_ list: [String], _ files: [SourceTree.File]) -> [String] {
    let entries = list.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    let parts = entries.map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
    let reasonless = zip(entries, parts).filter { $1.count < 2 }.map { "without a reason: \($0.0)" }
    let allowed = parts.compactMap(\.first)
    let users = files.filter(saysUnsafe).map(\.path)
    func covers(_ entry: String, _ path: String) -> Bool {
      entry.hasSuffix("/") ? path.hasPrefix(entry) : path == entry
    }
    return reasonless
      + users.filter { path in !allowed.contains { covers($0, path) } }.map { "not listed: \($0)" }
      + allowed.filter { entry in !users.contains { covers(entry, $0) } }.map { "needless: \($0)" }
      + (allowed == allowed.sorted() ? [] : ["not sorted"])
  }

  private static func saysUnsafe(_ file: SourceTree.File) -> Bool {
    file.has(anyOf: ["unsafe"]) && file.code.contains { $0.text.contains(/\bunsafe\b/) }
  }

  @Test func `unsafe stands only where the list has a reason for it`() throws {
    let list = try #require(SourceTree.file("Tests/ArchitectureTests/unsafe.txt")).lines
    #expect(Self.differences(list, SourceTree.sources) == [])
  }

  @Test func `a planted one is seen, and so is an entry that is not needed`() {
    let files = [
      ("Sources/A/One.swift", "let a = unsafe b"),
      ("Sources/A/Deep/Two.swift", "unsafe b()"),
      ("Sources/A/Three.swift", "// unsafe in a comment\nunsafely()"),
      ("Sources/B/Planted.swift", "try unsafe c()"),
    ].map { SourceTree.File(path: $0, text: $1) }
    #expect(
      Self.differences(["# Why", "Sources/A/: x", "Sources/B/Planted.swift: y"], files) == [])
    #expect(
      Self.differences(
        ["Sources/A/Deep/: x", "Sources/A/Three.swift: z", "Sources/A/One.swift"], files)
        == [
          "without a reason: Sources/A/One.swift", "not listed: Sources/B/Planted.swift",
          "needless: Sources/A/Three.swift", "not sorted",
        ])
  }
}
