// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Refusals about the file as a whole: whether a copy of it would be the vault.
extension Diagnostic {
  static func exchangedWords(_ last: Refusal.Subject) -> Words {
    (
      "another vault was here before; "
        + (last.text.utf8.isEmpty
          ? "this machine has never seen this one" : "this one was last at " + shown(last.text)),
      "if you put it here yourself, run 'kura unlock --accept-moved'"
    )
  }

  static func notWholeWords(_ path: Refusal.Subject, isHeld: Bool) -> Words {
    let file = shown(path.text)
    if isHeld {
      return (
        wiped + "another program has it open, and the latest changes are not in the file yet: "
          + file,
        "end that program, then lock again before you copy or move the file"
      )
    }
    return (
      wiped + "the disk has not taken the latest changes yet: " + file,
      "they follow; lock again before you copy or move the file, to know that they have"
    )
  }

  static func wholeFailedWords(_ errno: Int32, _ path: Refusal.Subject) -> Words {
    (
      wiped + "the latest changes could not be written into the file" + named(path)
        + errorText(errno),
      "nothing is lost: they stand in " + shown(path.text)
        + "-wal; look after the disk, then lock again before you copy or move the file"
    )
  }

  private static let wiped = "the vault is locked and its keys are wiped, but "
}
