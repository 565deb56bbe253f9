// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Counts what a form holds of no item, which is told in one line when all is written.
struct ExportLosses {
  private let format: ExportFormat
  private var earlier = 0
  private var attributes = 0
  private var protection = 0
  private var codes = 0
  private var deleted = 0
  private var conflicts = 0

  init(_ format: ExportFormat) { self.format = format }

  /// Counts an item that is written.
  mutating func add(_ item: Item, isProtected: Bool) {
    if !format.hasEarlier, item.facts.revision > 1 { earlier += 1 }
    if !format.hasAttributes, !item.attributes.isEmpty { attributes += 1 }
    if !format.hasProtection, isProtected { protection += 1 }
  }

  /// Counts an item that makes codes, where the form holds none.
  mutating func addCode() { codes += 1 }

  /// Counts an item that is deleted, where the form holds none.
  mutating func addDeleted() { deleted += 1 }

  /// Counts something on which merged copies do not agree: what is not shown of it is told as a revision at most.
  mutating func addConflict() { conflicts += 1 }

  /// What is told; nil where all is there.
  var words: String? {
    let all = [
      ("earlier revisions", earlier), ("attributes", attributes), ("protection", protection),
      ("one-time codes", codes), ("deleted items", deleted), ("conflicts", conflicts),
    ]
    var words = ""
    for (what, count) in all where count > 0 {
      words += (words.isEmpty ? "" : ", ") + what + " (\(count))"
    }
    return words.isEmpty ? nil : "not in this form: " + words
  }
}
