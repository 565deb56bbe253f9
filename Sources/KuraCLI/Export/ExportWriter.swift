// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes items in a format, one after another, and notes those that it cannot hold.
struct ExportWriter {
  private let format: ExportFormat

  init(_ format: ExportFormat) { self.format = format }

  /// Writes all.
  ///
  /// - Returns: How many were written, and how many were left out.
  mutating func write(
    _ items: inout ExportedItems, _ output: inout Output, _ messages: Messages
  ) throws(CommandError) -> (count: Int, left: Int) {
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    var bar = ProgressBar("exporting", messages)
    defer { bar.clear() }
    var (count, left) = (0, 0)
    for (index, name) in items.names.enumerated() {
      let flaw: String?
      switch format {
      case .jsonLines: flaw = try JSONLines.write(name, &items, &value, &output)
      }
      if let flaw {
        left += 1
        bar.clear()
        messages.note("left out " + Diagnostic.shown(name) + ": " + flaw)
      } else {
        count += 1
      }
      bar.show(ProgressReport(done: UInt64(index + 1), total: UInt64(items.names.count)))
    }
    return (count, left)
  }
}
