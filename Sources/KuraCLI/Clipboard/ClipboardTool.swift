// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Runs the program that holds the clipboard of a display, reads it and clears it.
struct ClipboardTool: Equatable, Sendable {
  /// Names the programs that are known.
  enum Kind: String, Sendable, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip, xsel

    var display: Display { self == .wlCopy ? .wayland : .x11 }
  }

  /// Tells displays apart that are spoken with differently.
  enum Display: Equatable, Sendable {
    case wayland, x11

    /// The variable that names it.
    var variable: String { self == .wayland ? "WAYLAND_DISPLAY" : "DISPLAY" }
    /// What people call it.
    var name: String { self == .wayland ? "Wayland" : "X11" }
  }

  let kind: Kind
  let path: String
  /// What reads the clipboard; nil where it is missing.
  let reader: String?
  /// The display, as its variable names it.
  let display: String
  /// Where the program may keep what it was given; memory.
  let directory: String?

  /// How long a program may take for anything, in ms.
  private static let patience: Int32 = 10_000

  /// The first one there is for a display that there is.
  static func find(_ display: Display, _ variables: Variables) -> ClipboardTool? {
    guard let name = variables[display.variable] else { return nil }
    for kind in Kind.allCases where kind.display == display {
      guard let path = Program.look(for: kind.rawValue, variables["PATH"]) else { continue }
      let reader =
        kind == .wlCopy ? Program.look(for: "wl-paste", variables["PATH"]) : path
      return ClipboardTool(
        kind: kind, path: path, reader: reader, display: name,
        directory: variables["XDG_RUNTIME_DIR"])
    }
    return nil
  }
}

// MARK: - What they are told

extension ClipboardTool {
  private func holding(isSecretKnown: Bool) -> [String] {
    switch kind {
    case .wlCopy:
      ["wl-copy", "--type", "text/plain;charset=utf-8"] + (isSecretKnown ? ["--sensitive"] : [])
    case .xclip: ["xclip", "-selection", "clipboard", "-in"]
    case .xsel: ["xsel", "--clipboard", "--input"]
    }
  }

  private var reading: [String] {
    switch kind {
    case .wlCopy: ["wl-paste", "--no-newline"]
    case .xclip: ["xclip", "-selection", "clipboard", "-out"]
    case .xsel: ["xsel", "--clipboard", "--output"]
    }
  }

  private var clearing: [String] {
    switch kind {
    case .wlCopy: ["wl-copy", "--clear"]
    case .xclip: ["xclip", "-selection", "clipboard", "-in", "/dev/null"]
    case .xsel: ["xsel", "--clipboard", "--clear"]
    }
  }
}

// MARK: - Doing it

extension ClipboardTool {
  /// Says what reading the clipboard came to.
  enum Reading: Equatable {
    case text(ValueMark.Tag)
    /// It is empty, or holds something that is no text.
    case nothing
    case failed
  }

  /// Whether the program can mark what it holds as a secret.
  func knowsSecrets() -> Bool {
    guard kind == .wlCopy,
      let help = Self.start(path, ["wl-copy", "--help"], .listens)
    else { return false }
    defer { kura_socket_close(help.descriptor) }
    let word = Array("--sensitive".utf8)
    var said: [UInt8] = []
    _ = System.hear(help.descriptor, patience: Self.patience) { part in
      if said.count < 16_384 { for index in part.indices { said.append(part[index]) } }
    }
    _ = Self.end(help)
    return said.indices.contains { said[$0...].starts(with: word) }
  }

  /// Puts bytes into the clipboard; the program stays there with them by itself.
  func hold(_ bytes: Span<UInt8>, isSecretKnown: Bool) throws(CommandError) {
    let words = holding(isSecretKnown: isSecretKnown)
    guard let child = Self.start(path, words, .feeds, directory) else {
      throw failure
    }
    let isSent = Self.send(bytes, to: child.descriptor)
    kura_socket_close(child.descriptor)
    guard Self.end(child) == 0, isSent else { throw failure }
  }

  private var failure: CommandError {
    .failure(
      "this program did not take the value: " + Diagnostic.shown(path),
      hint: "is its display still there? --to of 'kura copy NAME' chooses another clipboard",
      .inputOutput)
  }

  /// Reads the clipboard through a mark.
  func read(_ mark: ValueMark) -> Reading {
    guard let reader, let child = Self.start(reader, reading, .listens) else {
      return .failed
    }
    defer { kura_socket_close(child.descriptor) }
    var mark = mark
    let isWhole = System.hear(child.descriptor, patience: Self.patience) { part in mark.take(part) }
    guard isWhole else {
      kura_clip_end(child.process)
      return .failed
    }
    return switch Self.end(child) {
    case 0: .text(mark.tag())
    case 1...125: .nothing
    default: .failed
    }
  }

  /// Empties the clipboard.
  func clear() -> Bool {
    guard let child = Self.start(path, clearing, .feeds) else { return false }
    kura_socket_close(child.descriptor)
    return Self.end(child) == 0
  }
}

// MARK: - Programs

extension ClipboardTool {
  /// Tells which end of a program is ours.
  private enum End {
    case feeds, listens

    var number: Int32 {
      switch self {
      case .feeds: Int32(KURA_CLIP_FEEDS)
      case .listens: Int32(KURA_CLIP_LISTENS)
      }
    }
  }

  private static func start(
    _ program: String, _ words: [String], _ end: End, _ directory: String? = nil
  ) -> kura_child? {
    System.startClipboard(program, words, end: end.number, directory: directory)
  }

  private static func send(_ bytes: Span<UInt8>, to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = System.send(
        bytes.extracting(droppingFirst: sent), to: descriptor, patience: patience)
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Waits for a program's end, but not for ever; its status.
  private static func end(_ child: kura_child) -> Int32 {
    let status = kura_child_wait(child.process, patience)
    if status == -ETIMEDOUT { kura_clip_end(child.process) }
    return status
  }
}
