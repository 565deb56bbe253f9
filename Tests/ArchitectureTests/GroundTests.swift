// SPDX-License-Identifier: MIT

import Testing

/// Directories of tests are made in one place, which knows how to clear away what a dead run left.
@Suite struct GroundTests {
  private static let others = [
    "NSTemporaryDirectory", ".temporaryDirectory", "mkdtemp", "/dev/shm",
  ]

  private func offenders(_ file: SourceTree.File) -> [Int] {
    file.code.filter { line in Self.others.contains { line.text.contains($0) } }.map(\.number)
  }

  @Test(
    arguments: SourceTree.tests.filter {
      !$0.path.hasPrefix("Tests/TestGround/") && !$0.path.hasPrefix("Tests/ArchitectureTests/")
    })
  func `a test's directories are made by the ground`(_ file: SourceTree.File) {
    #expect(offenders(file) == [], "\(file.path): use Ground.onDisk or Ground.inMemory")
  }

  @Test func `the check sees a directory that is made elsewhere`() {
    let file = SourceTree.File(
      path: "Tests/Planted.swift", text: "let path = NSTemporaryDirectory() + \"planted\"\n")
    #expect(offenders(file) == [1])
  }
}
