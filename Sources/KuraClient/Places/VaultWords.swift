// SPDX-License-Identifier: MIT

/// Keeps the commands that a message names at the vault that it is about: typed as they stand, they must not reach another
/// one.
public enum VaultWords {
  /// The same text with `--vault` in each of its commands that would mean another vault without.
  ///
  /// - Parameters:
  ///   - text: Names commands in single quotes, as in `run 'kura unlock'`.
  ///   - vault: As ``quoted(_:shown:)`` gives it.
  ///   - isOfVault: Whether a command is about a vault, by its first word.
  public static func text(
    _ text: String, about vault: String, where isOfVault: (ArraySlice<UInt8>) -> Bool
  ) -> String {
    let (bytes, head) = (Array(text.utf8), Array("'kura ".utf8))
    let option = Array(("--vault " + vault + " ").utf8)
    var result: [UInt8] = []
    var next = 0
    while next < bytes.count {
      guard bytes[next...].starts(with: head) else {
        result.append(bytes[next])
        next += 1
        continue
      }
      next += head.count
      result += head
      if isOfVault(bytes[next...].prefix { $0 != 0x20 && $0 != head[0] }) { result += option }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// A vault as a shell takes it in a command that stands in single quotes; `FILE` for one that cannot be typed.
  ///
  /// - Parameters:
  ///   - vault: A name, or a path.
  ///   - shown: Makes bytes harmless on a terminal.
  public static func quoted(_ vault: [UInt8], shown: ([UInt8]) -> String) -> String {
    let isPlain = vault.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
        true
      default: "/._-+@%:,".utf8.contains(byte)
      }
    }
    guard !isPlain || vault.isEmpty else { return shown(vault) }
    guard vault.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return "FILE" }
    var text: [UInt8] = []
    for byte in vault {
      // Between the quotes an interactive shell would take it for a word of its history.
      if byte == UInt8(ascii: "!") {
        text += Array("\"\\!\"".utf8)
        continue
      }
      if "\"\\$`".utf8.contains(byte) { text.append(UInt8(ascii: "\\")) }
      text.append(byte)
    }
    return "\"" + shown(text) + "\""
  }
}
