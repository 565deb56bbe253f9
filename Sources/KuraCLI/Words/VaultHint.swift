// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Keeps the commands that a message names at the vault that it is about: typed as they stand, they
/// must not reach another one.
enum VaultHint {
  /// The vault that a command line means, as `--vault` takes it; nil for the one that is meant
  /// without a word.
  static func vault(_ arguments: Arguments, _ variables: Variables) -> [UInt8]? {
    if let text = arguments.operands.first.flatMap({ String(validating: $0, as: UTF8.self) }),
      ItemReference.begins(text.utf8.span, at: 0), let reference = try? ItemReference(text),
      let vault = reference.vault
    {
      return Array(vault.utf8)
    }
    let given = arguments.value(.vault) ?? variables["KURA_VAULT"].map { Array($0.utf8) }
    return given?.isEmpty == true ? nil : given
  }

  /// The same text with `--vault` in each of its commands that would mean another vault without.
  ///
  /// - Parameter text: Names commands in single quotes, as in `run 'kura unlock'`.
  static func text(_ text: String, about vault: [UInt8]?) -> String {
    guard let vault else { return text }
    return VaultWords.text(text, about: quoted(vault), where: hasVault)
  }

  /// Verbs that are about no vault.
  private static let others = ["vaults", "agent", "generate", "completion", "help"]

  private static func hasVault(_ word: ArraySlice<UInt8>) -> Bool {
    guard let command = CommandTable.command(Array(word)) else { return false }
    return !others.contains(command.verb)
  }

  /// A vault as a shell takes it in a command that stands in single quotes; `FILE` for one that cannot be typed.
  static func quoted(_ vault: [UInt8]) -> String {
    VaultWords.quoted(vault, shown: Diagnostic.shown)
  }
}

extension Invocation {
  /// The same error where another vault than that of the command line is not there: what makes it names it.
  func namingVault(_ error: CommandError) -> CommandError {
    guard let path = error.missingVault, let meant = try? access().vault, meant.path != path,
      let vault = try? VaultPath.word(for: path)
    else { return error }
    let words = Diagnostic(error)
    return .failure(
      words.message, hint: words.hint.map { VaultHint.text($0, about: Array(vault.utf8)) },
      words.status)
  }
}

extension VaultPath {
  /// What `--vault` takes for a path: a name, where named vaults stand.
  fileprivate static func word(for path: String) throws(PathError) -> String {
    let isFile = path.utf8.reversed().starts(with: ".kura".utf8.reversed())
    guard isFile, let last = path.utf8.split(separator: UInt8(ascii: "/")).last,
      let name = String(last.dropLast(5)), !name.utf8.isEmpty, (try? named(name))?.path == path
    else { return path }
    return name
  }
}

extension CommandError {
  /// The path of the vault that is not there, where that is what is wrong.
  fileprivate var missingVault: String? {
    if case .noVault(let path) = self { return path }
    if case .client(.refused(.noVault(.text(let path)))) = self { return path }
    if case .placed(_, let error) = self { return error.missingVault }
    return nil
  }
}

extension Check {
  /// The same with commands that mean the vault which was looked at.
  func advising(about vault: VaultPath) -> Check {
    guard vault.name != VaultPath.standardName else { return self }
    let text = VaultHint.text(advice, about: Array((vault.name ?? vault.path).utf8))
    return Check(name, verdict, meaning, text)
  }
}
