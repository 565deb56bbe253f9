// SPDX-License-Identifier: MIT

import Foundation

/// What was expected and what was seen instead.
struct StoryFailure: Error {
  var message: String
}

extension Expectation {
  /// Compares a command's end with what is expected.
  ///
  /// - Parameter variables: What `${NAME}` stands for.
  /// - Throws: ``StoryFailure`` that tells all that differs.
  func check(
    status seen: Int32, output: [UInt8], messages: [UInt8], variables: [String: String]
  ) throws(StoryFailure) {
    var differences: [String] = []
    switch status {
    case .exactly(let expected) where seen != expected:
      differences.append("status \(seen) instead of \(expected)")
    case .anyFailure where seen == 0:
      differences.append("status 0 instead of a failure")
    default: break
    }
    differences += self.output.differences(from: output, called: "stdout", variables)
    differences += self.messages.differences(from: messages, called: "stderr", variables)
    differences += Self.manners(of: String(decoding: messages, as: UTF8.self))
    guard !differences.isEmpty else { return }
    let report = "--- stdout\n\(shown(output))\n--- stderr\n\(shown(messages))"
    throw StoryFailure(message: differences.joined(separator: "\n") + "\n" + report)
  }

  /// What every message owes: lower case, and no full stop at its end.
  private static func manners(of messages: String) -> [String] {
    var differences: [String] = []
    for line in messages.split(separator: "\n") {
      for head in ["error", "hint", "warning", "notice"].map({ "kura: \($0): " })
      where line.hasPrefix(head) {
        let text = line.dropFirst(head.count)
        if text.hasSuffix("."), !text.hasSuffix("..") {
          differences.append("a full stop ends the message: \(line)")
        }
        if let first = text.first, first.isUppercase, text.dropFirst().first?.isLowercase == true {
          differences.append("a capital begins the message: \(line)")
        }
      }
    }
    return differences
  }
}

extension ExpectedText {
  fileprivate func differences(
    from bytes: [UInt8], called name: String, _ variables: [String: String]
  ) -> [String] {
    var differences: [String] = []
    let text = String(decoding: bytes, as: UTF8.self)
    if let expected = wanted.map({ substituted($0, variables) }), Array(expected.utf8) != bytes {
      differences.append("\(name) is not exactly:\n\(shown(Array(expected.utf8)))")
    }
    for pattern in patterns where !matches(text, pattern, variables) {
      differences.append("\(name) does not match: \(pattern)")
    }
    for pattern in absent where matches(text, pattern, variables) {
      differences.append("\(name) matches: \(pattern)")
    }
    return differences
  }

  private var wanted: String? {
    exact ?? (isExactByDefault && patterns.isEmpty && absent.isEmpty ? "" : nil)
  }
}

/// Replaces each `${NAME}` by the variable's value.
func substituted(
  _ text: String, _ variables: [String: String], escaping: (String) -> String = { $0 }
) -> String {
  guard text.contains("${") else { return text }
  return variables.reduce(text) {
    $0.replacingOccurrences(of: "${\($1.key)}", with: escaping($1.value))
  }
}

/// Whether a pattern is found in a text; `^` and `$` stand at each line.
func matches(_ text: String, _ pattern: String, _ variables: [String: String]) -> Bool {
  firstMatch(text, pattern, variables) != nil
}

/// The first group of the first match, or the whole match of a pattern without groups.
func firstMatch(_ text: String, _ pattern: String, _ variables: [String: String]) -> String? {
  let whole = substituted(
    pattern, variables, escaping: NSRegularExpression.escapedPattern(for:))
  guard
    let expression = try? NSRegularExpression(pattern: whole, options: .anchorsMatchLines),
    let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)),
    // A group may have had no part in the match.
    let range = Range(match.range(at: min(1, match.numberOfRanges - 1)), in: text)
      ?? Range(match.range, in: text)
  else { return nil }
  return String(text[range])
}

/// Bytes as a report shows them: at most 2,000, control characters escaped.
func shown(_ bytes: [UInt8]) -> String {
  var text = ""
  for scalar in String(decoding: bytes.prefix(2000), as: UTF8.self).unicodeScalars {
    let isControl = scalar.value < 32 && scalar != "\n"
    text += isControl ? scalar.escaped(asASCII: true) : String(scalar)
  }
  return bytes.count > 2000 ? text + "… (\(bytes.count) bytes)" : text
}
