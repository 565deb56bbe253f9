// SPDX-License-Identifier: MIT

import Testing

/// The folders with more files in them than anybody reads through. Commands has one file a verb.
private func tooBusy(_ paths: [String]) -> [String] {
  let folders = Dictionary(grouping: paths) {
    $0.split(separator: "/").dropLast().joined(separator: "/")
  }
  return folders.filter { $0.value.count > 25 && !$0.key.hasSuffix("/Commands") }.keys.sorted()
}

/// A newcomer finds any word of the command line as a file, and no folder is too full to be looked through.
@Suite struct RoomTests {
  @Test func `a folder has at most 25 files`() {
    #expect(tooBusy(SourceTree.sources.map(\.path)) == [])
  }

  @Test func `the check sees a tooBusy folder`() {
    let paths = (0...25).map { "Sources/KuraVault/Items/File\($0).swift" }
    #expect(tooBusy(paths) == ["Sources/KuraVault/Items"])
    #expect(tooBusy(Array(paths.dropLast())).isEmpty)
  }

  @Test func `each verb's command stands in the file of its name`() throws {
    let verbs = try DocumentTests.verbs()
    #expect(verbs.count > 30)
    for verb in verbs {
      let path =
        "Sources/KuraCLI/Commands/" + verb.prefix(1).uppercased() + verb.dropFirst() + ".swift"
      let file = SourceTree.sources.first { $0.path == path }
      #expect(
        file.map { file in file.code.contains { $0.text.contains("\"\(verb)\",") } } == true,
        "\(path)")
    }
  }
}
