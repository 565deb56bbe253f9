// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Reads which items files of variables declare that a command uses: what the references in them name.
enum DeclaredItems {
  /// The names, each once, in the order of the files.
  static func names(_ invocation: borrowing Invocation) throws(CommandError) -> [[UInt8]] {
    let dialect = try ReferenceDialect(invocation)
    var names: [[UInt8]] = []
    for path in invocation.arguments.values(.grantFrom) {
      let path = try Invocation.text(path)
      let found = try items(in: path, dialect)
      guard !found.isEmpty else {
        throw .usage(
          "no reference stands in " + Diagnostic.shown(path),
          hint: "--grant-from takes lines such as TOKEN=kura://NAME")
      }
      for name in found where !names.contains(name) { names.append(name) }
    }
    return names
  }

  private static func items(
    in path: String, _ dialect: ReferenceDialect
  ) throws(CommandError) -> [[UInt8]] {
    var list = try VariableList.make(dialect)
    try list.add(file: path)
    var names: [[UInt8]] = []
    for entry in list.entries {
      guard case .text(let pieces) = entry.source else { continue }
      for piece in pieces {
        guard let placed = piece.placeholder?.source else { continue }
        guard placed.reference.vault == nil else {
          throw .placed(
            placed.place,
            .usage(
              "what is granted is of one vault, and this reference names its own",
              hint: "leave out its @VAULT, and name the vault with --vault"))
        }
        names.append(Array(placed.reference.name.utf8))
      }
    }
    return names
  }
}
