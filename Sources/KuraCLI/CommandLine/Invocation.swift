// SPDX-License-Identifier: MIT

/// Carries one run of a command: what was asked, and where the answer goes.
struct Invocation: ~Copyable {
  let arguments: Arguments
  let variables: Variables
  let messages: Messages
  var output: Output

  /// An operand as text. Names, keys and paths are UTF-8.
  func operand(_ index: Int) throws(CommandError) -> String {
    try Self.text(arguments.operands[index])
  }

  /// An option's value as text.
  func text(_ option: OptionName) throws(CommandError) -> String? {
    guard let value = arguments.value(option) else { return nil }
    return try Self.text(value)
  }

  /// Bytes that were typed, as text.
  static func text(_ bytes: [UInt8]) throws(CommandError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage(
        Diagnostic.quoted(bytes) + " is not UTF-8 text",
        hint: "names, paths and attributes are UTF-8")
    }
    return text
  }
}
