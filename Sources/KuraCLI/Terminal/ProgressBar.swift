// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Shows how far long work has come, on a terminal's stderr, once it takes more than a second.
struct ProgressBar {
  private static let width: UInt64 = 30

  private let label: String
  private let messages: Messages
  private let start = Clock.boot()
  private var shown = ""

  init(_ label: String, _ messages: Messages) {
    self.label = label
    self.messages = messages
  }

  /// Draws it anew where it has changed.
  mutating func show(_ report: ProgressReport) {
    guard messages.isTerminal, !messages.isQuiet, Clock.boot() - start > 1_000 else { return }
    let text = label + " " + Self.text(report)
    guard !text.utf8.elementsEqual(shown.utf8) else { return }
    shown = text
    messages.write("\r" + text)
  }

  /// Takes it away.
  mutating func clear() {
    guard !shown.utf8.isEmpty else { return }
    messages.write("\r" + String(repeating: " ", count: shown.utf8.count) + "\r")
    shown = ""
  }

  private static func text(_ report: ProgressReport) -> String {
    guard report.total > 0 else { return "\(report.done)" }
    // Divided first: the counts may be as large as they like.
    let done = min(report.done, report.total)
    let unit = report.total / 100
    let percent = unit == 0 ? done * 100 / report.total : min(done / unit, 100)
    let filled = Int(percent * width / 100)
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: Int(width) - filled) + "] \(percent) %"
  }
}
