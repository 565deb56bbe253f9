// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Finds names that a person may have meant by one that no item has. They are looked for where a
/// person reads the answer and the vault is unlocked; nobody is asked, and a large vault is not
/// walked through.
struct NearNames: Equatable, Sendable {
  /// How many items a vault may have to be walked through for a name that is mistyped.
  private static let mostItems: UInt64 = 10_000

  /// A name that is nearly the one given.
  let similar: String?
  /// How many names begin with the one given and a `/`.
  let below: Int

  /// What to do next; nil where nothing is near.
  func hint(for name: String) -> String? {
    if let similar { return "did you mean " + Diagnostic.shown(similar) + "?" }
    guard below > 0 else { return nil }
    let count = below == 1 ? "1 name begins" : "\(below) names begin"
    return count + " with " + Diagnostic.shown(name) + "/"
  }

  /// Looks for them.
  ///
  /// - Throws: Whatever is wrong: then nothing is known, and nothing to be said of it.
  init(of name: String, _ access: VaultAccess) throws(CommandError) {
    guard !access.isPrivate, var connection = try access.connectRunning() else {
      throw .agentNotRunning
    }
    var (below, similar, isSame): (Int, String?, Bool) = (0, nil, false)
    do throws(ClientError) {
      try connection.listNames(ListOrder(prefix: name + "/")) { _ throws(ClientError) in below += 1
      }
      if below == 0, try connection.status().itemCount <= Self.mostItems {
        let wanted = Array(name.utf8)
        try connection.listNames { candidate throws(ClientError) in
          guard !isSame, let text = candidate.text else { return }
          isSame = Typing.isSame(Array(text.utf8), wanted)
          if isSame || similar == nil && Typing.isNear(Array(text.utf8), wanted) { similar = text }
        }
      }
    } catch { throw .client(error) }
    (self.below, self.similar) = (below, similar)
  }
}

extension Span<UInt8> {
  /// The bytes as text; nil where they are none.
  fileprivate var text: String? { String(validating: Array(copying: self), as: UTF8.self) }
}

/// Measures how near two words are.
enum Typing {
  /// Whether one letter is wrong, missing, too many, or swapped with the next; or only capital.
  static func isNear(_ word: [UInt8], _ typed: [UInt8]) -> Bool {
    guard typed.count > 1 else { return false }
    let (word, typed) = (word.map(lower), typed.map(lower))
    let head = zip(word, typed).prefix { $0 == $1 }.count
    let tail = zip(word.reversed(), typed.reversed()).prefix { $0 == $1 }.count
    let longest = max(word.count, typed.count)
    if abs(word.count - typed.count) <= 1, head + tail >= longest - 1 { return true }
    return word.count == typed.count && head + tail == longest - 2
      && word[head] == typed[head + 1] && word[head + 1] == typed[head]
  }

  /// Whether only capitals differ.
  static func isSame(_ word: [UInt8], _ typed: [UInt8]) -> Bool {
    word.map(lower) == typed.map(lower)
  }

  private static func lower(_ byte: UInt8) -> UInt8 {
    byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
  }
}

extension Invocation {
  /// The same error with names that may have been meant, where an item was not found and a person reads.
  func naming(_ error: CommandError) -> CommandError {
    guard case .client(.refused(.notFound(.text(let name)))) = error, messages.isTerminal,
      !arguments.has(.deleted), let near = try? NearNames(of: name, accessOfItem())
    else { return namingVault(error) }
    return .noItem(name, near)
  }

  /// The vault of the item that the first operand names.
  private func accessOfItem() throws(CommandError) -> VaultAccess {
    guard let text = arguments.operands.first.flatMap({ String(validating: $0, as: UTF8.self) }),
      let reference = try? ItemReference(text)
    else { return try access() }
    return try access(of: reference)
  }
}
