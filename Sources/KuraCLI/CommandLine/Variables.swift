// SPDX-License-Identifier: MIT

internal import KuraClient

/// Answers from the variables that the command was started with.
struct Variables: Sendable {
  private let lookUp: @Sendable (String) -> String?

  /// Variables to be looked up by the caller's rule.
  init(_ lookUp: @escaping @Sendable (String) -> String?) { self.lookUp = lookUp }

  /// Those of this process.
  static let process = Variables { Environment.value($0) }

  /// The variable's value; an empty one counts as not set.
  subscript(_ name: String) -> String? {
    guard let value = lookUp(name), !value.utf8.isEmpty else { return nil }
    return value
  }
}

extension Variables {
  /// The same of a variable that names something, which must be what its bytes say.
  func name(_ variable: String) throws(CommandError) -> String? {
    guard let value = self[variable] else { return nil }
    do throws(PathError) { _ = try Environment.name(variable) } catch { throw .path(error) }
    return value
  }
}

// MARK: - What they mean

extension Variables {
  /// Whether a terminal cannot move its cursor or show colours.
  var hasDumbTerminal: Bool {
    guard let kind = self["TERM"] else { return true }
    return kind.utf8.elementsEqual("dumb".utf8)
  }

  /// Whether colours are unwanted (no-color.org).
  var refusesColor: Bool { self["NO_COLOR"] != nil }

  /// Whether nothing on the terminal is to move by itself.
  var refusesMotion: Bool { self["KURA_MOTION"]?.utf8.elementsEqual("off".utf8) == true }

  /// Whether text is UTF-8, as it is unless a locale says otherwise.
  var isUTF8: Bool {
    guard let locale = self["LC_ALL"] ?? self["LC_CTYPE"] ?? self["LANG"] else { return true }
    let lower = locale.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
    return Self.contains(lower, "utf-8") || Self.contains(lower, "utf8")
  }

  private static func contains(_ text: [UInt8], _ part: String) -> Bool {
    text.indices.contains { text[$0...].starts(with: part.utf8) }
  }
}
