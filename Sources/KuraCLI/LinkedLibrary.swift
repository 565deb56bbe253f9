// SPDX-License-Identifier: MIT

internal import KuraClient

/// Names a library that stands in the released programs: who hears of a weakness in it asks which version that is.
struct LinkedLibrary: Equatable {
  let name: String
  /// Of the distribution's package, which tells what was mended there, too.
  let version: String

  /// What this build was linked with; nothing where the build did not say it.
  static var all: [LinkedLibrary] { read(System.linked()) }

  /// Reads what the build said.
  ///
  /// - Parameter text: `NAME=VERSION` with commas between.
  static func read(_ text: String) -> [LinkedLibrary] {
    text.utf8.split(separator: UInt8(ascii: ",")).compactMap { part in
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      return LinkedLibrary(
        name: String(decoding: part[..<equals], as: UTF8.self),
        version: String(decoding: part[part.index(after: equals)...], as: UTF8.self))
    }
  }

  /// Tells a person all of them.
  static var check: Check { check(of: all) }

  /// Tells a person these.
  static func check(of libraries: [LinkedLibrary]) -> Check {
    guard !libraries.isEmpty else {
      return Check("libraries", .unknown, "this build does not say which libraries are in it")
    }
    var words = ""
    for library in libraries {
      words += (words.utf8.isEmpty ? "built with " : ", ") + library.name + " " + library.version
    }
    return Check("libraries", .ok, words)
  }
}
