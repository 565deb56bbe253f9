// SPDX-License-Identifier: MIT

import Foundation

/// The project's own files, as these tests read them.
struct SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A text file of the project: its path from the root, and its lines.
  struct File: CustomStringConvertible {
    let path: String
    let lines: [String]
    private let bytes: Data
    var description: String { path }

    init(path: String, text: String) {
      self.path = path
      bytes = Data(text.utf8)
      lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// All of it.
    var text: String { lines.joined(separator: "\n") }

    /// The folder under `Sources/`: the target's name.
    var target: String { String(path.split(separator: "/")[1]) }

    /// The lines that are code: comment lines are left out.
    var code: [(number: Int, text: String)] {
      lines.enumerated().compactMap { index, line in
        line.trimmingCharacters(in: .whitespaces).hasPrefix("//") ? nil : (index + 1, line)
      }
    }

    /// Whether one of some texts stands in it: quickly said of most files, before an expression is
    /// tried on each line.
    func has(anyOf texts: [String]) -> Bool {
      texts.contains { bytes.range(of: Data($0.utf8)) != nil }
    }
  }

  static func files(below folder: String, endings: [String]) -> [File] {
    let base = root.appending(path: folder)
    guard let walk = FileManager.default.enumerator(atPath: base.path) else { return [] }
    return walk.compactMap { $0 as? String }
      .filter { path in endings.contains { path.hasSuffix($0) } }
      .sorted()
      .compactMap { file("\(folder)/\($0)") }
  }

  static func file(_ path: String) -> File? {
    guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
      return nil
    }
    return File(path: path, text: text)
  }

  static let sources = files(below: "Sources", endings: [".swift"])
  static let tests = files(below: "Tests", endings: [".swift"])
}
