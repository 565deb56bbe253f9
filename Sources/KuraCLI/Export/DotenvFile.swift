// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Writes values as lines `NAME=VALUE` that sh, python-dotenv and Kura itself read alike.
enum DotenvFile {
  /// Holds a variable's name; nil where the item gives none.
  struct Variable {
    let name: [UInt8]
    /// Why it gives none.
    let flaw: String?
  }

  /// Says how a value stands behind the `=`.
  enum Quoting: Equatable {
    case bare, single, double
  }

  /// The variables of items, in their order.
  ///
  /// - Parameter prefix: What the names begin with; what stands behind its last `/` makes the variable.
  static func variables(of names: [String], below prefix: String) -> [Variable] {
    var depth = 0
    for byte in prefix.utf8 where byte == UInt8(ascii: "/") { depth += 1 }
    let made = names.map { VariableName.made(of: rest(of: $0, depth)) }
    let order = made.indices.sorted { made[$0].lexicographicallyPrecedes(made[$1]) }
    var flaws = [String?](repeating: nil, count: names.count)
    for (one, other) in zip(order, order.dropFirst()) where made[one] == made[other] {
      for (index, twin) in [(one, other), (other, one)] {
        flaws[index] =
          Diagnostic.shown(names[twin]) + " would be the variable " + Diagnostic.shown(made[index])
          + ", too"
      }
    }
    for index in made.indices where !VariableName.isValid(made[index]) {
      flaws[index] = "no variable can be called " + Diagnostic.shown(made[index])
    }
    return made.indices.map { Variable(name: made[$0], flaw: flaws[$0]) }
  }

  private static func rest(of name: String, _ depth: Int) -> Substring.UnicodeScalarView {
    var rest = name.unicodeScalars[...]
    for _ in 0..<depth {
      rest = rest.drop { $0 != "/" }.dropFirst()
    }
    return rest
  }

  /// Writes a line.
  ///
  /// - Returns: Why there is none; nil: it was written.
  static func write(
    _ name: [UInt8], _ value: Span<UInt8>, _ output: inout Output
  ) throws(CommandError) -> String? {
    guard UTF8Scanner.isText(value) else { return "its value is no UTF-8 text" }
    for index in value.indices where value[index] == 0 || value[index] == 0x0D {
      return "its value has a NUL or a carriage return, which gets lost on the way"
    }
    guard let quoting = quoting(of: value) else {
      return "its value has quotes and other signs that no quoting keeps for all that read it"
    }
    try output.write(name.span)
    switch quoting {
    case .bare:
      try output.write("=")
      try output.write(value)
      try output.write("\n")
    case .single:
      try output.write("='")
      try output.write(value)
      try output.write("'\n")
    case .double:
      try output.write("=\"")
      try write(escaped: value, &output)
      try output.write("\"\n")
    }
    return nil
  }

  /// How a value is written, so that nothing of it means something else to any reader; nil: in no way.
  static func quoting(of value: Span<UInt8>) -> Quoting? {
    if value.indices.allSatisfy({ isPlain(value[$0]) }) { return .bare }
    let endsInBackslash = value[value.count - 1] == UInt8(ascii: "\\")
    guard !endsInBackslash else { return nil }
    if isKeptBySingle(value) { return .single }
    return isKeptByDouble(value) ? .double : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    VariableName.isValid([UInt8(ascii: "_"), byte]) || "./:@%+,=-".utf8.contains(byte)
  }

  /// python-dotenv takes `\\` and `\'` for one character, and fills in `${` there, too.
  private static func isKeptBySingle(_ value: Span<UInt8>) -> Bool {
    for index in value.indices {
      let next = index + 1 < value.count ? value[index + 1] : 0
      switch value[index] {
      case UInt8(ascii: "'"): return false
      case UInt8(ascii: "\\") where next == UInt8(ascii: "\\"): return false
      case UInt8(ascii: "$") where next == UInt8(ascii: "{"): return false
      default: continue
      }
    }
    return true
  }

  /// Only sh takes a backslash before these two away.
  private static func isKeptByDouble(_ value: Span<UInt8>) -> Bool {
    value.indices.allSatisfy {
      value[$0] != UInt8(ascii: "$") && value[$0] != UInt8(ascii: "`")
    }
  }

  private static func write(
    escaped value: Span<UInt8>, _ output: inout Output
  ) throws(CommandError) {
    var start = 0
    for index in value.indices
    where value[index] == UInt8(ascii: "\"") || value[index] == UInt8(ascii: "\\") {
      try output.write(value.extracting(start..<index))
      try output.write("\\")
      start = index
    }
    try output.write(value.extracting(start..<value.count))
  }
}
