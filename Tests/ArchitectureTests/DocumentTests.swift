// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// The documents, the released programs and the source say the same. The programs come from
/// `make build`; `KURA_BIN` names another folder.
@Suite struct DocumentTests {
  static let programs = URL(
    filePath: ProcessInfo.processInfo.environment["KURA_BIN"]
      ?? SourceTree.root.appending(path: ".build/release").path)

  static func output(of program: String, _ arguments: [String]) throws -> (
    text: String, status: Int32
  ) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = programs.appending(path: program)
    process.arguments = arguments
    process.environment = ["HOME": "/nonexistent", "PATH": "/usr/bin:/bin"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }

  static func text(_ path: String) throws -> String {
    try #require(SourceTree.file(path)).lines.joined(separator: "\n")
  }

  /// The verbs that `kura help` lists: the first word of each indented line under "verbs".
  static func verbs() throws -> [String] {
    try output(of: "kura", ["help"]).text.split(separator: "\n")
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  -") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  @Test func `each verb of the help has its own paragraph in the man page, and none is missing`()
    throws
  {
    let page = try Self.text("man/kura.1")
    let verbs = try Self.verbs()
    #expect(verbs.count >= 15)
    for verb in verbs {
      #expect(page.contains("\n.It Cm \(verb)"), "\(verb)")
      #expect(try Self.output(of: "kura", ["help", verb]).status == 0, "\(verb)")
      #expect(try Self.output(of: "kura", [verb, "--help"]).status == 0, "\(verb)")
    }
  }

  @Test func `each option of a verb's help stands in the man page`() throws {
    let page = try Self.text("man/kura.1")
    for verb in try Self.verbs() {
      let help = try Self.output(of: "kura", ["help", verb]).text
      for match in help.matches(of: /--([a-z][a-z-]+)/) {
        #expect(page.contains("-\(match.1)"), "\(verb): --\(match.1)")
      }
    }
  }

  @Test func `exit statuses are the same in help and man page`() throws {
    let page = try Self.text("man/kura.1")
    let help = try Self.output(of: "kura", ["help", "exit-status"]).text
    let rows = help.matches(of: /(?m)^\s*(\d+)\s+(\S+)/)
    #expect(rows.count >= 18)
    for row in rows {
      #expect(page.contains(".It \(row.1)"), "status \(row.1) (\(row.2))")
    }
  }

  @Test func `the first steps are the same in help and man page, each with a verb there is`() throws
  {
    let page = try Self.text("man/kura-start.7").matches(of: /(?m)^\.It Li (.+)$/).map {
      String($0.1)
    }
    let help = try Self.output(of: "kura", ["help", "start"]).text
    let steps = help.matches(of: /(?m)^  (\S.+)$/).map { String($0.1) }
    #expect(steps.count >= 25 && steps == page)
    let verbs = try Self.output(of: "kura", ["help"]).text
    for step in steps {
      for match in step.matches(of: /(?:^|[|&] )kura ([a-z]+)/) {
        #expect(verbs.contains("\n  \(match.1) "), "\(step)")
      }
    }
  }

  @Test(arguments: [
    "kura", "kura-agent", "kura-desktop", "kura-import", "kura-sync", "kura-ui",
  ])
  func `a program says its version and nothing else`(_ program: String) throws {
    let result = try Self.output(of: program, ["--version"])
    #expect(result.status == 0)
    #expect(result.text.wholeMatch(of: /\S+ \d+\.\d+\.\d+(-\S+)?\n/) != nil, "\(result.text)")
  }

  @Test func `the readme is short and what it links to is there`() throws {
    let readme = try #require(SourceTree.file("README.md"))
    #expect(readme.lines.count <= 124)
    let links = readme.lines.joined(separator: "\n").matches(of: /\]\(([^)#]+)\)/).map {
      String($0.1)
    }
    #expect(links.count > 5)
    for link in links where !link.hasPrefix("http") {
      #expect(
        FileManager.default.fileExists(atPath: SourceTree.root.appending(path: link).path),
        "\(link)")
    }
  }

  /// The blocks for a shell are run as they stand: by packaging/check and packaging/trial, and by make.
  @Test func `each command of the readme is one that a story runs`() throws {
    let readme = try Self.text("README.md")
    let story = try Self.text("Fixtures/scripts/readme.txt").split(separator: "\n")
    // A stick is below the story's own directory.
    let shown = readme.matches(of: /(?m)^\$ (.+?)(?: +# .*)?$/).map {
      $0.1.replacing(" /media", with: " media")
    }
    #expect(shown.count >= 10)
    for command in shown {
      #expect(
        ["", "tty ", "! 4 "].contains { story.contains("\($0)\(command)"[...]) }, "\(command)")
    }
    let named = readme.matches(of: /`(kura [^`]+)`/).map {
      $0.1.replacing(" /media", with: " media")
    }
    #expect(named.count > 4)
    let stories = SourceTree.files(below: "Fixtures/scripts", endings: [".txt"])
      .map { $0.lines.joined(separator: "\n") }
    for command in named {
      #expect(stories.contains { $0.contains(command) }, "\(command)")
    }
    let targets = readme.matches(of: /(?m)^make (\w+)/).map { String($0.1) }
    #expect(targets.count >= 5)
    let makefile = try Self.text("Makefile")
    for target in targets { #expect(makefile.contains("\n\(target):"), "\(target)") }
    let release = try #require(
      try Self.text("Sources/KuraProtocol/Release.swift").firstMatch(of: /version = "(.+)"/))
    for number in readme.matches(of: /kura[a-z-]*[-_](\d+\.\d+\.\d+)/) {
      #expect(number.1 == release.1)
    }
  }

  @Test func `a release has its day in the changelog, and a vault that later ones must open`()
    throws
  {
    let changelog = try Self.text("CHANGELOG.md")
    #expect(changelog.contains("\n## [Unreleased]\n"))
    let source = try Self.text("Sources/KuraProtocol/Release.swift")
    let release = try #require(source.firstMatch(of: /version = "(.+)"/)).1
    #expect(changelog.contains("\n## [\(release)] - 20"))
    #expect(try Self.text("Fixtures/vaults/\(release)/vault.lines").contains("\nitem: "))
    // What nobody had cannot have been mended.
    let first = try #require(changelog.split(separator: "\n## ").last)
    #expect(first.contains("\n### Added\n") && !first.contains("\n### Fixed\n"))
  }

  @Test func `man pages refer only to pages that exist`() throws {
    let pages = SourceTree.files(below: "man", endings: [".1", ".5", ".7"])
    let names = Set(pages.map { String($0.path.dropFirst("man/".count)) })
    #expect(
      names.isSuperset(of: [
        "kura.1", "kura-agent.1", "kura-desktop.1", "kura-format.5", "kura-grants.7",
        "kura-helpers.7",
        "kura-recipes.7",
        "kura-import.1", "kura-json.5", "kura-protocol.5", "kura-security.7", "kura-start.7",
        "kura-sync.1", "kura-sync-format.5", "kura-ui.1",
      ]))
    for page in pages {
      for line in page.lines {
        guard let match = line.firstMatch(of: /^\.Xr (kura[a-z-]*) (\d)/) else { continue }
        #expect(names.contains("\(match.1).\(match.2)"), "\(page.path): \(line)")
      }
    }
  }

  @Test func `the released programs carry no run path and no needed library`() throws {
    for program in [
      "kura", "kura-agent", "kura-import", "kura-strength", "kura-sync", "kura-ui",
    ] {
      let bytes = try Data(contentsOf: Self.programs.appending(path: program))
      // A static-pie has no interpreter: the dynamic loader's path is not in the file.
      #expect(bytes.range(of: Data("/lib64/ld-linux".utf8)) == nil, "\(program)")
      #expect(bytes.prefix(4) == Data([0x7F, 0x45, 0x4C, 0x46]))
    }
  }

  @Test func `the program for databases has libpq, and nothing that opens a vault`() throws {
    let program = try Data(contentsOf: Self.programs.appending(path: "kura-sync-postgres"))
    for word in ["libsqlite3", "SQLite format 3", "libsodium", "$ORIGIN"] {
      #expect(program.range(of: Data(word.utf8)) == nil, "\(word)")
    }
    #expect(program.range(of: Data("libpq.so.5".utf8)) != nil)
  }

  @Test func `the program for hardware has its libraries, and nothing that opens a vault`() throws {
    let program = try Data(contentsOf: Self.programs.appending(path: "kura-hardware"))
    for word in ["libsqlite3", "SQLite format 3", "libsodium", "$ORIGIN"] {
      #expect(program.range(of: Data(word.utf8)) == nil, "\(word)")
    }
    #expect(program.range(of: Data("libtss2-esys.so.0".utf8)) != nil)
    #expect(program.range(of: Data("libfido2.so.1".utf8)) != nil)
  }

  @Test func `the desktop program has libsystemd, and nothing that opens a vault`() throws {
    let desktop = try Data(contentsOf: Self.programs.appending(path: "kura-desktop"))
    for word in ["libsqlite3", "SQLite format 3", "libsodium", "$ORIGIN"] {
      #expect(desktop.range(of: Data(word.utf8)) == nil, "\(word)")
    }
    #expect(desktop.range(of: Data("libsystemd.so.0".utf8)) != nil)
    // What is looked for is there in a program that has it.
    let agent = try Data(contentsOf: Self.programs.appending(path: "kura-agent"))
    #expect(agent.range(of: Data("SQLite format 3".utf8)) != nil)
  }
}
