// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Knows which texts are references for a command, and reads them: `kura://`, with variables put in
/// where that is wanted, and `op://` where a table says which vaults are meant.
struct ReferenceDialect {
  /// Says where the items of a vault of another program's are.
  private struct Mapping {
    let vault: [UInt8]
    let base: [UInt8]
  }

  static let options = [
    Option(.expand, help: "put variables in references: ${VAR}, ${VAR:-x}"),
    Option(.op, .required("VAULT=REF"), help: "where op://VAULT/ is: kura://PREFIX/"),
  ]

  private static let foreign = "op://"

  let expands: Bool
  private let variables: Variables
  private var mappings: [Mapping] = []

  /// The references that need no options.
  static let plain = ReferenceDialect(.process)

  private init(_ variables: Variables) {
    expands = false
    self.variables = variables
  }

  /// The references that a command's options ask for.
  init(_ invocation: borrowing Invocation) throws(CommandError) {
    try self.init(
      expands: invocation.arguments.has(.expand), invocation.variables,
      invocation.arguments.values(.op))
  }

  /// - Parameters:
  ///   - expands: Whether references have variables in them.
  ///   - table: `VAULT=kura://PREFIX/` for each vault of `op://`.
  init(expands: Bool, _ variables: Variables, _ table: [[UInt8]] = []) throws(CommandError) {
    self.expands = expands
    self.variables = variables
    for text in table { mappings.append(try Self.mapping(text)) }
  }

  /// Whether a text means to be a reference at some place.
  func begins(_ text: Span<UInt8>, at start: Int) -> Bool {
    if ItemReference.begins(text, at: start) { return true }
    return !mappings.isEmpty && text.extracting(start...).starts(with: Array(Self.foreign.utf8))
  }

  /// Reads a reference.
  func read(_ text: [UInt8], at place: Place) throws(CommandError) -> PlacedReference {
    try PlacedReference(try written(text, place), at: place)
  }

  /// The reference as it stands without options.
  private func written(_ text: [UInt8], _ place: Place) throws(CommandError) -> [UInt8] {
    do throws(SyntaxFlaw) {
      let expanded = expands ? try expand(text) : text
      guard expanded.starts(with: Self.foreign.utf8), !mappings.isEmpty else { return expanded }
      return try translate(expanded)
    } catch { throw .placed(place, .syntax(error)) }
  }
}

// MARK: - Variables

extension ReferenceDialect {
  /// Puts variables in the place of `${NAME}` and `${NAME:-DEFAULT}`. What a variable says is part of a
  /// name, and never means a vault or an attribute.
  private func expand(_ text: [UInt8]) throws(SyntaxFlaw) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
      guard text[index...].starts(with: "${".utf8) else {
        result.append(text[index])
        index += 1
        continue
      }
      guard let close = text[index...].firstIndex(of: UInt8(ascii: "}")) else { throw .expansion }
      result += try value(text[(index + 2)..<close])
      index = close + 1
    }
    return result
  }

  private func value(_ expression: ArraySlice<UInt8>) throws(SyntaxFlaw) -> [UInt8] {
    let end = expression.firstIndex(of: UInt8(ascii: ":")) ?? expression.endIndex
    let name = Array(expression[..<end])
    let rest = expression[end...]
    guard VariableName.isValid(name), rest.isEmpty || rest.starts(with: ":-".utf8) else {
      throw .expansion
    }
    if let value = variables[String(decoding: name, as: UTF8.self)] {
      return Array(ItemReference.escaped(value).utf8)
    }
    guard !rest.isEmpty else { throw .unset(name) }
    return Array(rest.dropFirst(2))
  }
}

// MARK: - op://

extension ReferenceDialect {
  /// Reads `VAULT=kura://PREFIX/`.
  private static func mapping(_ text: [UInt8]) throws(CommandError) -> Mapping {
    let equals = text.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex
    let base = Array(text[equals...].dropFirst())
    guard equals > text.startIndex, base.starts(with: ItemReference.scheme.utf8),
      base.last == UInt8(ascii: "/"), !base.contains(UInt8(ascii: "?"))
    else {
      throw .usage(
        OptionName.op.spelling + " takes VAULT=kura://PREFIX/",
        hint: "kura:// alone stands for the whole vault, kura://@VAULT/ for another one's")
    }
    return Mapping(vault: Array(text[..<equals]), base: base)
  }

  /// `op://VAULT/ITEM/FIELD` as the reference that the table makes of it: a password is the item's value,
  /// `?attribute=otp` its code, and any other field an attribute.
  private func translate(_ text: [UInt8]) throws(SyntaxFlaw) -> [UInt8] {
    let body = text.dropFirst(Self.foreign.utf8.count)
    let query = body.firstIndex(of: UInt8(ascii: "?")) ?? body.endIndex
    let parts = body[..<query].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard (3...4).contains(parts.count), !parts.contains(where: { $0.isEmpty }) else {
      throw .foreign
    }
    guard let mapping = mappings.first(where: { $0.vault.elementsEqual(parts[0]) }) else {
      throw .foreignVault(Array(parts[0]))
    }
    let item = mapping.base + (try Self.escaped(parts[1]))
    if query < body.endIndex {
      guard body[query...].elementsEqual("?attribute=otp".utf8) else { throw .foreign }
      return item + Array("?otp".utf8)
    }
    let field = parts[2...].joined(separator: [UInt8(ascii: ".")])
    let isValue = ["password", "credential"].contains { $0.utf8.elementsEqual(field) }
    return isValue ? item : item + Array("?attr=".utf8) + (try Self.escaped(Array(field)[...]))
  }

  private static func escaped(_ text: ArraySlice<UInt8>) throws(SyntaxFlaw) -> [UInt8] {
    guard let text = String(validating: text, as: UTF8.self) else { throw .foreign }
    return Array(ItemReference.escaped(text).utf8)
  }
}
