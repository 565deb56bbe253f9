// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Words for places that a vault or this machine's state cannot stand in.
extension Diagnostic {
  static func unsafeWords(_ flaw: PlaceFlaw, _ path: Refusal.Subject) -> Words {
    switch flaw {
    case .directoryWritable:
      return (
        "others than you may write in the directory" + named(path),
        (isOfKura(path.text) ? command("chmod go-w", on: path.text) : nil)
          ?? "keep the vault in a directory that nobody else may write in"
      )
    case .fileOpen:
      return (
        "others than you have rights to the vault's file" + named(path),
        (isVault(path.text) ? command("chmod go=", on: path.text) : nil)
          ?? "if it is a vault, see to it that it is yours alone"
      )
    case .directoryOwner:
      return ("the directory belongs to another user" + named(path), ownHint)
    case .fileOwner:
      return ("the vault's file belongs to another user" + named(path), ownHint)
    }
  }

  private static let ownHint = "use the vault as that user, or keep it in a directory of yours"

  static func accessWords(_ flaw: AccessFlaw, _ path: Refusal.Subject) -> Words {
    switch flaw {
    case .readOnly:
      return (
        "nothing can be written there, which is read-only" + named(path),
        "the vault can be read; where that has changed, 'kura lock' and unlock it again; else copy it to where you"
          + " may write"
      )
    case .walOutOfReach:
      return (
        "the latest changes cannot be read where nothing can be written" + named(path),
        "they stand in a file beside it, until the vault is locked where it is in use; copy both to where"
          + " you may write"
      )
    case .rights:
      return (
        "permission denied" + named(path),
        "look at the rights of the file and its directory"
      )
    }
  }

  static func stateWords(_ errno: Int32, _ path: Refusal.Subject) -> Words {
    let reason =
      errno == 0
      ? "it is no file, or one that others may write"
      : SystemMessage.text(errno)
    return (
      "a file of this machine's state cannot be used" + named(path) + " (" + reason + ")",
      "the vault itself was not touched; once that is moved away, it is made anew"
    )
  }

  /// A command on what is Kura's own; nil where it could not be typed as it stands.
  static func command(_ text: String, on path: String) -> String? {
    let isPlain = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "'") }
    return isPlain ? text + " '" + path + "'" : nil
  }

  private static func isVault(_ path: String) -> Bool { path.utf8.ends(with: ".kura".utf8) }

  private static func isOfKura(_ path: String) -> Bool {
    path.utf8.ends(with: "/kura".utf8) || path.utf8.ends(with: "/kura/device".utf8)
  }
}

extension String.UTF8View {
  fileprivate func ends(with end: String.UTF8View) -> Bool {
    count >= end.count && suffix(end.count).elementsEqual(end)
  }
}
