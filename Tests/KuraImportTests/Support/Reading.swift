// SPDX-License-Identifier: MIT

import Foundation
import KuraTerms

@testable import KuraImport

/// What reading a source comes to.
func outcome(
  _ bytes: [UInt8], _ format: ImportFormat, _ password: [UInt8]? = nil
) throws -> AnswerReader.Outcome {
  var answer: [UInt8] = []
  var sink = EntrySink { answer += $0 }
  Source.read(bytes, as: format, password: password, &sink)
  return try AnswerReader.read(answer)
}

/// What a source holds.
func read(_ bytes: [UInt8], _ format: ImportFormat) throws -> AnswerReader.Answer {
  switch try outcome(bytes, format) {
  case .whole(let answer): return answer
  case .flaw(let flaw): throw flaw
  }
}

func read(_ text: String, _ format: ImportFormat) throws -> AnswerReader.Answer {
  try read(Array(text.utf8), format)
}

/// Why a source is refused; nil where it is not.
func flaw(_ text: String, _ format: ImportFormat) throws -> ReadingFlaw? {
  guard case .flaw(let flaw) = try outcome(Array(text.utf8), format) else { return nil }
  return flaw
}

/// A file of `Fixtures/import`.
func fixture(_ name: String) throws -> [UInt8] {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  return Array(try Data(contentsOf: root.appending(path: "Fixtures/import/" + name)))
}

extension [UInt8] {
  /// The bytes of a text.
  init(_ text: String) { self = Array(text.utf8) }

  var text: String { String(decoding: self, as: UTF8.self) }
}

extension [ImportedItem] {
  subscript(_ name: String) -> ImportedItem? { first { $0.name == name } }

  var names: [String] { map(\.name) }
}

extension ImportedItem {
  subscript(_ key: String) -> String? { attributes.first { $0.key.text == key }?.value.text }

  /// One that is as secret as the value.
  func secret(_ key: String) -> String? { secrets.first { $0.key.text == key }?.value.text }
}

/// The items of a source.
func items(_ bytes: [UInt8], _ format: ImportFormat, into folder: String = "") throws
  -> [ImportedItem]
{
  ItemMapping.map(try read(bytes, format), into: folder).items
}

/// What is said of a source.
func leavings(_ bytes: [UInt8], _ format: ImportFormat) throws -> [Leaving] {
  ItemMapping.map(try read(bytes, format)).leavings
}
