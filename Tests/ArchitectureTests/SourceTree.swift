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
    var description: String { path }

    /// The folder under `Sources/`: the target's name.
    var target: String { String(path.split(separator: "/")[1]) }

    /// The lines that are code: comment lines are left out.
    var code: [(number: Int, text: String)] {
      lines.enumerated().compactMap { index, line in
        line.trimmingCharacters(in: .whitespaces).hasPrefix("//") ? nil : (index + 1, line)
      }
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
    return File(
      path: path,
      lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }

  static let sources = files(below: "Sources", endings: [".swift"])
  static let tests = files(below: "Tests", endings: [".swift"])
}
