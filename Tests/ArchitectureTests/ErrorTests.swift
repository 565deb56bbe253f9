// SPDX-License-Identifier: MIT

import Testing

/// The lines of a file that throw without saying what, or that ask what was thrown by a cast: of functions,
/// accessors, closures, and the types of functions that are handed over.
private func untyped(in file: SourceTree.File) -> [Int] {
  // An expression is tried on lines where one of the words is said.
  let words = ["throws", " as? ", "any Error"]
  guard file.has(anyOf: words) else { return [] }
  return file.code.filter { _, text in
    guard words.contains(where: { text.contains($0) }) else { return false }
    let bare = text.replacing(/"([^"\\]|\\.)*"/, with: "\"\"").replacing(/\/\/.*/, with: "")
    return bare.contains(/\b(re)?throws\b(?!\()/) || bare.contains(/\bany Error\b/)
      || bare.contains(/\bas\? \w*Error\b/)
  }.map { $0.number }
}

/// Whoever catches an error can name every case of it, so that a new one does not compile where it is
/// forgotten.
@Suite struct ErrorTests {
  @Test(arguments: SourceTree.sources)
  func `whatever throws says what`(_ file: SourceTree.File) {
    for number in untyped(in: file) {
      Issue.record("\(file.path):\(number): \(file.lines[number - 1])")
    }
  }

  @Test func `the check sees what throws without a type`() {
    let text = """
      func a() throws {}
      func b() throws(VaultError) -> Int { 1 }
      func c(_ body: (Int) throws -> Void) throws(VaultError) {}
      var d: Int { get throws { 1 } }
      func e(_ body: () throws -> Int) rethrows -> Int { try body() }
      let f = { (x: Int) throws in x }
      let g = "who throws a stone"  // and throws
      /// What it throws.
      let h: Result<Int, any Error>
      catch { self = error as? VaultError }
      func i() throws(any Error)
      """
    let file = SourceTree.File(path: "Sources/KuraVault/Planted.swift", text: text)
    #expect(untyped(in: file) == [1, 3, 4, 5, 6, 9, 10, 11])
  }
}
