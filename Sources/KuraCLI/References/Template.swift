// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Fills in the references that stand in a text, as kura(1) describes it under TEMPLATES.
struct Template: ~Copyable {
  /// The most bytes that are read, and that are written.
  static let limit = 16 << 20

  static var tooLong: CommandError {
    .failure("the result has more than \(limit >> 20) MiB; nothing was written")
  }

  private let text: SecretBuffer
  private let pieces: [Piece]

  /// Finds the references in a text.
  ///
  /// - Parameter name: The file it stands in, for messages; nil: stdin.
  init(
    _ text: consuming SecretBuffer, name: String?, _ dialect: ReferenceDialect = .plain
  ) throws(CommandError) {
    let pieces = try PlaceholderScanner.pieces(
      of: text.bytes, in: 0..<text.count, .template(name), dialect)
    self.text = text
    self.pieces = pieces
  }

  /// What is to be filled in, in order.
  var placeholders: [Placeholder] { pieces.compactMap { $0.placeholder } }

  /// The text with the values in the place of their placeholders.
  consuming func filled(
    _ values: borrowing PlaceholderValues
  ) throws(CommandError) -> SecretBuffer {
    var result = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: text.count + values.count)
    }
    var next = 0
    try values.write(pieces, of: text.bytes, from: &next, to: &result)
    guard result.count <= Self.limit else { throw Self.tooLong }
    return result
  }
}
