// SPDX-License-Identifier: MIT

/// Names the forms that items are exported in; kura(1) says what each holds.
enum ExportFormat: String, Sendable, CaseIterable {
  /// What `put --batch` takes: everything, history and deletions among it.
  case jsonLines = "json-lines"

  /// Whether earlier revisions and deleted items are written, too.
  var hasHistory: Bool {
    switch self {
    case .jsonLines: true
    }
  }
}
