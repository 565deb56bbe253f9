// SPDX-License-Identifier: MIT

internal import KuraClient

/// Tells whether a part of the promised protection holds on this machine.
struct Check: Equatable, Sendable {
  /// Says how it stands.
  enum Verdict: String, CaseIterable, Sendable {
    case ok, warn, fail, unknown
  }

  /// What is looked at: a word of `doctor`, stable for scripts.
  let name: String
  let verdict: Verdict
  /// What was found, and what that means.
  let meaning: String
  /// What to do about it; empty for nothing.
  let advice: String

  init(_ name: String, _ verdict: Verdict, _ meaning: String, _ advice: String = "") {
    self.name = name
    self.verdict = verdict
    self.meaning = meaning
    self.advice = advice
  }
}

extension Machine {
  /// The lines of one of the kernel's files; none where it cannot be read.
  func lines(_ path: String) -> [ArraySlice<UInt8>] {
    (file(path) ?? []).split(separator: UInt8(ascii: "\n"))
  }

  /// The words of a file's first line.
  func words(_ path: String) -> [ArraySlice<UInt8>]? {
    guard let bytes = file(path) else { return nil }
    return bytes.prefix { $0 != UInt8(ascii: "\n") }.words
  }

  /// The number that a file holds.
  func number(_ path: String) -> UInt64? { words(path)?.first.flatMap { Decimal.parse($0) } }
}

extension ArraySlice<UInt8> {
  /// What stands between blanks.
  var words: [ArraySlice<UInt8>] {
    split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  func starts(_ text: String) -> Bool { starts(with: text.utf8) }

  func equals(_ text: String) -> Bool { elementsEqual(text.utf8) }

  var text: String { String(decoding: self, as: UTF8.self) }
}

/// A size for people, in whole units.
func sizeText(_ bytes: UInt64) -> String {
  if bytes == Machine.unlimited { return "unlimited" }
  if bytes >= 10 << 20 { return "\(bytes >> 20) MiB" }
  return bytes >= 1_024 ? "\(bytes >> 10) KiB" : "\(bytes) bytes"
}
