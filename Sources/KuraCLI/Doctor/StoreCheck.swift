// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Checks whether the store of a shared vault is reached from this machine, by the program that carries.
struct StoreCheck {
  private static let name = "store"
  /// The longest that program may be silent, in ms.
  private static let patience: Int32 = 120_000
  /// More of its words are not shown.
  private static let longest = 2_048

  let note: StoreNote
  /// How the program ended, and what it said; nil where it is not here.
  let answer: (status: Int32, said: [UInt8])?

  /// Has the store of a vault looked at; nil for a vault that has none here.
  static func check(of vault: [UInt8]) -> Check? {
    guard let note = try? StoreNote.read(for: vault) else { return nil }
    return StoreCheck(note: note, answer: ask(vault)).check
  }

  private static func ask(_ vault: [UInt8]) -> (status: Int32, said: [UInt8])? {
    guard let program = System.companion("kura-sync"),
      let child = System.startHeard(
        program, ["kura-sync", "reach", StorePlace.hexadecimal(vault)])
    else { return nil }
    defer { kura_socket_close(child.descriptor) }
    var said: [UInt8] = []
    let isOver = System.hear(child.descriptor, patience: patience) { words in
      for index in words.indices where said.count < longest { said.append(words[index]) }
    }
    guard isOver else {
      kura_end_asked(child.process)
      return (Int32(ExitStatus.inputOutput.rawValue), Array("it does not answer".utf8))
    }
    return (kura_child_wait(child.process, patience), said)
  }

  var check: Check {
    let place = Diagnostic.shown(note.remote)
    let met = note.met == 0 ? "it was never met" : "it was met last " + Moment.local(note.met)
    guard let answer else {
      return Check(
        Self.name, .unknown, "the store " + place + " is not looked at without kura-sync; " + met,
        "install the package kura-sync")
    }
    guard answer.status != 0 else {
      return Check(Self.name, .ok, "the store " + place + " is reached; " + met)
    }
    let why = lines(answer.said).first ?? "kura-sync ended"
    return Check(
      Self.name, .warn, "the store " + place + " is not reached: " + why + "; " + met,
      lines(answer.said).dropFirst().first ?? "run 'kura sync'")
  }

  /// What it said, without the words that say what kind of a line it is.
  private func lines(_ said: [UInt8]) -> [String] {
    said.split(separator: UInt8(ascii: "\n")).map { line in
      var rest = line
      for mark in ["kura: error: ", "kura: hint: "] where rest.starts(with: mark.utf8) {
        rest = rest.dropFirst(mark.utf8.count)
      }
      let copy = Array(rest)
      return Diagnostic.shown(String(repairing: copy.span))
    }
  }
}
