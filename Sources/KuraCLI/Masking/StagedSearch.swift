// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraMask
internal import SecureMemory

/// Looks for values in what a commit would take up: the contents that git has staged, whatever the files are like now.
struct StagedSearch: ~Copyable {
  /// The most bytes that git may name files by.
  private static let mostNames = 256 << 20

  /// Names a file whose staged content is new.
  struct Entry: Equatable {
    /// From the root of the repository on, any bytes.
    let path: [UInt8]
    /// What git knows the content by, in hexadecimal.
    let content: [UInt8]
  }

  private let variables: Variables

  init(_ variables: Variables) { self.variables = variables }

  /// Looks into all of them.
  func search(
    _ set: borrowing NeedleSet, _ report: ([UInt8], ValueLines.Line) throws(CommandError) -> Void
  ) throws(CommandError) {
    let entries = try entries()
    guard !entries.isEmpty else { return }
    var git = try GitProgram.start(["cat-file", "--batch"], variables)
    for entry in entries { try read(entry, &git, set, report) }
  }

  /// Reads a content: a line with its length, its bytes, and an end of line.
  private func read(
    _ entry: Entry, _ git: inout GitProgram, _ set: borrowing NeedleSet,
    _ report: ([UInt8], ValueLines.Line) throws(CommandError) -> Void
  ) throws(CommandError) {
    try git.tell(entry.content + [0x0A])
    let words = try git.line().split(separator: 0x20)
    guard words.count == 3, words[0].elementsEqual(entry.content),
      words[1].elementsEqual("blob".utf8), let size = Decimal.parse(words[2])
    else { throw GitProgram.stopped }
    var finder = try LineFinder()
    try git.bytes(size) { part throws(CommandError) in
      for line in try finder.take(part, set) { try report(entry.path, line) }
    }
    for line in try finder.finish(set) { try report(entry.path, line) }
    try git.bytes(1) { _ throws(CommandError) in }
  }

  /// The files that are new in the next commit, or have another content there.
  private func entries() throws(CommandError) -> [Entry] {
    var git = try GitProgram.start(
      [
        "diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff",
        "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=none",
      ], variables)
    let said = try git.all(limit: StagedSearch.mostNames)
    guard let entries = StagedSearch.entries(in: said.bytes) else { throw GitProgram.stopped }
    return entries
  }

  /// Reads what `git diff --raw -z` says: `:MODE MODE CONTENT CONTENT STATE`, a NUL, a path, a NUL. Files alone are
  /// named: neither links nor submodules nor what is taken away.
  ///
  /// - Returns: nil where it says something else.
  static func entries(in said: Span<UInt8>) -> [Entry]? {
    var entries: [Entry] = []
    var place = 0
    while place < said.count {
      guard let facts = field(said, &place), let path = field(said, &place),
        facts.first == UInt8(ascii: ":"), !path.isEmpty
      else { return nil }
      let words = facts.dropFirst().split(separator: 0x20)
      guard words.count == 5, words[1].count == 6, isContent(words[3]) else { return nil }
      let isFile = words[1].starts(with: "100".utf8)
      guard isFile, words[3].contains(where: { $0 != UInt8(ascii: "0") }) else { continue }
      entries.append(Entry(path: path, content: Array(words[3])))
    }
    return entries
  }

  /// The bytes up to the next NUL; nil where there is none.
  private static func field(_ said: Span<UInt8>, _ place: inout Int) -> [UInt8]? {
    let start = place
    while place < said.count, said[place] != 0 { place += 1 }
    guard place < said.count else { return nil }
    place += 1
    return [UInt8](copying: said.extracting(start..<(place - 1)))
  }

  /// Whether a word is a name of SHA-1 or SHA-256.
  private static func isContent(_ word: ArraySlice<UInt8>) -> Bool {
    guard word.count == 40 || word.count == 64 else { return false }
    return word.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
