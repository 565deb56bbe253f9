// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Words for places that a vault or this machine's state cannot stand in.
extension Diagnostic {
  static func unsafeWords(_ refused: Refused) -> Words {
    switch refused.detail {
    case 0:
      return (
        "others than you may write in the directory" + named(refused.text),
        (isOfKura(refused.text) ? command("chmod go-w", on: refused.text) : nil)
          ?? "keep the vault in a directory that nobody else may write in"
      )
    case 2:
      return (
        "others than you have rights to the vault's file" + named(refused.text),
        (isVault(refused.text) ? command("chmod go=", on: refused.text) : nil)
          ?? "if it is a vault, see to it that it is yours alone"
      )
    case 1:
      return ("the directory belongs to another user" + named(refused.text), ownHint)
    default: return ("the vault's file belongs to another user" + named(refused.text), ownHint)
    }
  }

  private static let ownHint = "use the vault as that user, or keep it in a directory of yours"

  static func accessWords(_ refused: Refused) -> Words {
    switch refused.detail {
    case 1:
      return (
        "nothing can be written there, which is read-only" + named(refused.text),
        "the vault can be read; where that has changed, 'kura lock' and unlock it again; else copy it to where you"
          + " may write"
      )
    case 2:
      return (
        "the latest changes cannot be read where nothing can be written" + named(refused.text),
        "they stand in a file beside it, until the vault is locked where it is in use; copy both to where"
          + " you may write"
      )
    default:
      return (
        "permission denied" + named(refused.text),
        "look at the rights of the file and its directory"
      )
    }
  }

  static func stateWords(_ refused: Refused) -> Words {
    let reason =
      refused.detail == 0
      ? "it is no file, or one that others may write"
      : SystemMessage.text(Int32(truncatingIfNeeded: refused.detail))
    return (
      "a file of this machine's state cannot be used" + named(refused.text) + " (" + reason + ")",
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
