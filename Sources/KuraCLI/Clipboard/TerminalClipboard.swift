// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import SecureMemory

/// Sets the clipboard of whoever looks at the terminal, by the sequence OSC 52 of xterm; it can
/// neither be read nor trusted to have been set.
struct TerminalClipboard: Equatable, Sendable {
  /// Tells what the sequence has to get through.
  enum Wrapping: Equatable, Sendable {
    case none, tmux, screen
  }

  /// The most bytes that terminals take: 100,000 with all that belongs to the sequence.
  static let limit = 74_994
  /// The most of a sequence that screen takes at once.
  private static let screenPart = 76

  let wrapping: Wrapping

  /// nil where the terminal is one that shows the sequence, or nothing is known of it.
  init?(_ variables: Variables) {
    guard let kind = variables["TERM"], !variables.hasDumbTerminal,
      !kind.utf8.elementsEqual("linux".utf8)
    else { return nil }
    if variables["TMUX"] != nil || kind.utf8.starts(with: "tmux".utf8) {
      wrapping = .tmux
    } else if variables["STY"] != nil || kind.utf8.starts(with: "screen".utf8) {
      wrapping = .screen
    } else {
      wrapping = .none
    }
  }

  /// Sends a text to the terminal of this process, whatever stdout is.
  func send(_ text: Span<UInt8>) throws(CommandError) {
    let terminal = kura_terminal_open()
    guard terminal >= 0 else { throw .noClipboard }
    defer { kura_file_close(terminal) }
    var output = try Output(descriptor: terminal, isTerminal: false)
    try write(text, to: &output)
    try output.flush()
  }

  /// Writes the sequence.
  func write(_ text: Span<UInt8>, to output: inout Output) throws(CommandError) {
    switch wrapping {
    case .none:
      try output.write("\u{1B}]52;c;")
      try Self.writeBase64(text, to: &output)
      try output.write("\u{07}")
    case .tmux:
      try output.write("\u{1B}Ptmux;\u{1B}\u{1B}]52;c;")
      try Self.writeBase64(text, to: &output)
      try output.write("\u{07}\u{1B}\\")
    case .screen: try writeParts(text, to: &output)
    }
  }

  private static func writeBase64(
    _ text: Span<UInt8>, to output: inout Output
  ) throws(CommandError) {
    var base64 = Base64()
    try output.append(text, &base64)
    try output.finish(&base64)
  }

  /// Bytes of the text go in threes, and so digits in fours.
  private func writeParts(_ text: Span<UInt8>, to output: inout Output) throws(CommandError) {
    try output.write("\u{1B}P\u{1B}]52;c;")
    let step = Self.screenPart / 4 * 3
    var start = 0
    while start < text.count {
      let end = min(start + step, text.count)
      if start > 0 { try output.write("\u{1B}\\\u{1B}P") }
      try Self.writeBase64(text.extracting(start..<end), to: &output)
      start = end
    }
    try output.write("\u{07}\u{1B}\\")
  }
}
