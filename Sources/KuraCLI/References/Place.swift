// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Tells a person where something stands that a message is about.
enum Place: Equatable, Sendable {
  /// In an option; the text tells it from others of that name, and is no secret.
  case option(OptionName, [UInt8])
  /// In a variable of the environment.
  case variable([UInt8])
  /// In a line of a file.
  case line(Int, of: String)
  /// At a character of a template; nil: of stdin.
  case character(line: Int, column: Int, of: String?)

  /// The place in words.
  var words: String {
    switch self {
    case .option(let name, let text):
      text.isEmpty ? name.spelling : name.spelling + " " + Diagnostic.shown(text)
    case .variable(let name): "the variable " + Diagnostic.shown(name)
    case .line(let line, let file): "line \(line) of " + Diagnostic.shown(file)
    case .character(let line, let column, let file):
      "line \(line), column \(column) of " + (file.map { Diagnostic.shown($0) } ?? "stdin")
    }
  }
}

/// Holds a reference, and where it stands.
struct PlacedReference: Equatable, Sendable {
  let reference: ItemReference
  let place: Place

  init(_ reference: ItemReference, at place: Place) {
    self.reference = reference
    self.place = place
  }

  /// Reads a reference.
  ///
  /// - Throws: What is wrong with it, and where; the text itself may be a secret by mistake, and
  ///   is never told.
  init(_ bytes: [UInt8], at place: Place) throws(CommandError) {
    do throws(ItemReference.Flaw) { reference = try ItemReference(bytes: bytes) } catch {
      throw .placed(place, .usage(.notAReference(error)))
    }
    self.place = place
  }
}
